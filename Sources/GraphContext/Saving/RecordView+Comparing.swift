import Predicates

extension RecordView {
  /// Returns the bits of the slots in `mask` that are nil.
  func missingSlots(_ mask: UInt64) -> UInt64 {
    var (rest, missing) = (mask, UInt64(0))
    while rest != 0 {
      let bit = rest & (0 &- rest)
      if isNull(bit.trailingZeroBitCount) { missing |= bit }
      rest &= ~bit
    }
    return missing
  }

  /// Returns the slots in `mask` whose bytes differ from those of another record of the same layout.
  func slots(in mask: UInt64, thatDifferFrom other: RecordView) -> UInt64 {
    var (rest, different) = (mask & (1 << UInt64(slotCount) &- 1), UInt64(0))
    while rest != 0 {
      let bit = rest & (0 &- rest)
      if !holdsEqualBytes(at: bit.trailingZeroBitCount, as: other) { different |= bit }
      rest &= ~bit
    }
    return different
  }

  private func holdsEqualBytes(at slot: Int, as other: RecordView) -> Bool {
    if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
    return valueBytes(slot).elementsEqual(other.valueBytes(slot))
  }
}
