import TestSupport
import Testing

@testable import PageStore

/// The two queues beside plain arrays.
struct FrameQueuesTests {
  @Test func framesLeaveInTheOrderInWhichTheyCame() {
    var generator = SeededGenerator()
    var queues = FrameQueues()
    var young: [UInt64] = []
    var main: [UInt64] = []
    var evicted: Set<UInt64> = []
    for step in 0..<20_000 {
      let frame = UInt64.random(in: 1...300, using: &generator) << (step % 50 == 0 ? 12 : 0)
      let isQueued = young.contains(frame) || main.contains(frame)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1:
        if isQueued { continue }
        evicted.remove(frame)
        if Bool.random(using: &generator) {
          queues.append(frame, to: .young)
          young.append(frame)
        } else {
          queues.append(frame, to: .main)
          main.append(frame)
        }
      case 2, 3:
        queues.remove(frame)
        young.removeAll { $0 == frame }
        main.removeAll { $0 == frame }
        evicted.remove(frame)
      case 4:
        guard let oldest = queues.oldest(.young) else { continue }
        queues.remove(oldest)
        young.removeFirst()
        queues.append(oldest, to: .main)
        main.append(oldest)
      default:
        guard let oldest = queues.oldest(.main) else { continue }
        queues.remove(oldest)
        main.removeFirst()
        queues.markEvicted(oldest)
        evicted.insert(oldest)
      }
      #expect(queues.oldest(.young) == young.first, "step \(step)")
      #expect(queues.oldest(.main) == main.first, "step \(step)")
      #expect(queues.count(.young) == young.count && queues.count(.main) == main.count)
      let expected: FrameQueues.Name =
        young.contains(frame)
        ? .young : main.contains(frame) ? .main : evicted.contains(frame) ? .evicted : .none
      #expect(queues.queue(of: frame) == expected, "step \(step)")
    }
  }
}
