import Predicates

extension RecordView {
  /// Returns the slots of a set that are nil.
  func missingSlots(_ slots: SlotSet) -> SlotSet {
    var missing = SlotSet.empty
    for slot in slots where isNull(slot) { missing.insert(slot) }
    return missing
  }

  /// Returns the slots in `mask` whose bytes differ from those of another record of the same layout.
  func slots(in mask: SlotSet, thatDifferFrom other: RecordView) -> SlotSet {
    var different = SlotSet.empty
    for slot in mask.intersection(SlotSet(first: slotCount)) where !holdsEqualBytes(at: slot, as: other) {
      different.insert(slot)
    }
    return different
  }

  private func holdsEqualBytes(at slot: Int, as other: RecordView) -> Bool {
    if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
    return valueBytes(slot).elementsEqual(other.valueBytes(slot))
  }
}
