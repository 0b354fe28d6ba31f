import Predicates

extension RecordEncoder {
  /// Does the work of ``encode(_:patchedBy:in:)`` for a patch that has values of fixed width only. All other values
  /// keep their positions, so the record is copied as a whole. Returns nil, with nothing written, for other patches.
  mutating func encodeInPlace(
    _ record: borrowing RecordView,
    patchedBy patch: borrowing RecordView,
    in slots: SlotSet
  ) -> UnsafeMutableRawBufferPointer? {
    for slot in slots where layout.fields[slot].kind.fixedByteCount == nil { return nil }
    let bytes = copyWhole(record.bytes)
    for slot in slots {
      let field = layout.fields[slot]
      let nullByte = Int(field.nullByte)
      bytes[nullByte] = bytes[nullByte] & ~field.nullMask | patch.bytes[nullByte] & field.nullMask
      // For nil, the patch has zeros.
      let place = field.position..<field.position + (field.kind.fixedByteCount ?? 0)
      UnsafeMutableRawBufferPointer(rebasing: bytes[place])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: patch.bytes[place]))
    }
    Self.stamp(bytes, commit: 0)
    return bytes
  }
}
