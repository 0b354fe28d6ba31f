import BenchmarkHarness
import Synchronization

/// The checksums of several threads.
final class LockedSums: Sendable {
  private let sums: Mutex<[UInt64]>

  init(count: Int) { sums = Mutex(Array(repeating: 0, count: count)) }

  func set(_ index: Int, _ sum: Checksum) { sums.withLock { $0[index] = sum.value } }

  /// All of them in one, in the threads' order.
  var value: UInt64 {
    var total = Checksum()
    for sum in sums.withLock({ $0 }) { total.add(sum) }
    return total.value
  }
}
