import TestSupport
import Testing

@testable import GraphContext

/// A set of slots has the slots that a `Set` of their numbers has.
struct SlotSetTests {
  @Test func aSlotIsInTheSetUntilItIsRemoved() {
    for slot in 0..<ObjectState.maximumSlotCount {
      var slots = SlotSet(slot)
      #expect(slots.contains(slot) && slots.count == 1 && Array(slots) == [slot])
      slots.insert(slot)
      #expect(slots == SlotSet(slot))
      slots.remove(slot)
      slots.remove(slot)
      #expect(slots.isEmpty && slots == .empty)
    }
  }

  @Test func theFirstSlotsAreNoneToAll() {
    for count in 0...ObjectState.maximumSlotCount { #expect(SlotSet(first: count) == SlotSet(0..<count)) }
    #expect(SlotSet(first: 0) == .empty && SlotSet(first: ObjectState.maximumSlotCount) == .all)
  }

  @Test func twoSetsCombineAsSetsOfNumbersDo() {
    var random = SeededGenerator()
    for _ in 0..<1_000 {
      let (one, other) = (Self.numbers(&random), Self.numbers(&random))
      let (slots, others) = (SlotSet(one), SlotSet(other))
      #expect(Array(slots) == one.sorted() && slots.count == one.count)
      #expect(slots.union(others) == SlotSet(one.union(other)))
      #expect(slots.intersection(others) == SlotSet(one.intersection(other)))
      #expect(slots.subtracting(others) == SlotSet(one.subtracting(other)))
      #expect(slots.symmetricDifference(others) == SlotSet(one.symmetricDifference(other)))
      #expect(slots.isDisjoint(with: others) == one.isDisjoint(with: other))
      #expect(slots.isSubset(of: others) == one.isSubset(of: other))
      #expect(slots.intersection(others).isSubset(of: slots))
      var changed = slots
      changed.formUnion(others)
      #expect(changed == slots.union(others))
      changed.subtract(slots)
      #expect(changed == others.subtracting(slots))
      changed.formIntersection(slots)
      #expect(changed.isEmpty)
    }
  }

  /// Returns many or few numbers, so that disjoint sets and subsets are among them.
  private static func numbers(_ random: inout SeededGenerator) -> Set<Int> {
    let divisor = random.number(in: 1...40)
    return Set((0..<ObjectState.maximumSlotCount).filter { _ in random.chance(1, in: divisor) })
  }
}
