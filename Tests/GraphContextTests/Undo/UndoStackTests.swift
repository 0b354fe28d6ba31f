import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// A stack of groups beside an array of them.
struct UndoStackTests {
  private func group(_ imageCount: Int, name: String) -> UndoGroup {
    var group = UndoGroup()
    group.name = name
    for number in 1...UInt64(imageCount) {
      let key = ObjectKey(entity: 0, number: ObjectNumber(sequence: number)!)
      group.add(UndoGroup.Image(object: Writer(name), values: nil), key)
    }
    return group
  }

  @Test func itKeepsTheNewestGroupsWithinTheLimits() {
    var generator = SeededGenerator()
    var stack = UndoStack()
    var groups: [UndoGroup] = []
    let imageByteCount = group(1, name: "").byteCount
    for step in 0..<2_000 {
      switch generator.number(in: 0...9) {
      case 0...5:
        let group = group(generator.number(in: 1...4), name: "\(step)")
        stack.append(group)
        groups.append(group)
      case 6, 7: #expect(stack.popLast()?.name == groups.popLast()?.name)
      case 8:
        let (levels, limit) = (
          generator.pick([0, 0, 1, 5, 20]), generator.number(in: 0...60) * imageByteCount
        )
        stack.trim(levels: levels, byteLimit: limit)
        while groups.reduce(0, { $0 + $1.byteCount }) > limit || levels > 0 && groups.count > levels {
          groups.removeFirst()
        }
      default:
        guard generator.chance(1, in: 5), let name = groups.randomElement(using: &generator)?.name else {
          break
        }
        stack.forget(throughLast: { $0.name == name })
        groups.removeFirst(groups.firstIndex { $0.name == name }! + 1)
      }
      #expect(stack.count == groups.count && stack.last?.name == groups.last?.name)
    }
  }
}
