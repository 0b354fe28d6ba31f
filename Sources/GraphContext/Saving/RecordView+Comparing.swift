import Predicates

extension RecordView {
  /// Bits of the slots in `mask` that are nil.
  func missingSlots(_ mask: UInt64) -> UInt64 {
    var (rest, missing) = (mask, UInt64(0))
    while rest != 0 {
      let bit = rest & (0 &- rest)
      if isNull(bit.trailingZeroBitCount) { missing |= bit }
      rest &= ~bit
    }
    return missing
  }

  /// Of the slots in `mask`, those whose bytes are not those of another record of the same layout.
  func slots(in mask: UInt64, thatDifferFrom other: RecordView) -> UInt64 {
    var different: UInt64 = 0
    for slot in layout.fields.indices where mask & 1 << UInt64(slot) != 0 {
      if !holdsEqualBytes(at: slot, as: other) { different |= 1 << UInt64(slot) }
    }
    return different
  }

  private func holdsEqualBytes(at slot: Int, as other: RecordView) -> Bool {
    if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
    return valueBytes(slot).elementsEqual(other.valueBytes(slot))
  }
}
