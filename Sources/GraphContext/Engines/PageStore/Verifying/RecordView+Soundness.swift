import Predicates

/// Requirements for a record's bytes beyond those for reading them. Docs/Records.md, "Records".
extension RecordView {
  /// True if the header is a record's header, and all unused bits are zero: the bits behind the last slot's, and
  /// the values of slots that are nil.
  var hasSoundFrame: Bool {
    let version = UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
    let lastBits = RecordLayout.headerByteCount + slotCount / 8
    guard version == RecordEncoder.version, bytes[2..<4].allSatisfy({ $0 == 0 }),
      slotCount % 8 == 0 || bytes[lastBits] >> UInt8(slotCount % 8) == 0
    else { return false }
    return (0..<slotCount).allSatisfy { slot in
      !isNull(slot) || valueBytes(slot).allSatisfy { $0 == 0 }
    }
  }

  /// Returns whether the slot holds a value of its kind, or nil.
  func hasSoundValue(_ slot: Int) -> Bool {
    if isNull(slot) { return fixedBytes(slot) != nil || variable(slot).isEmpty }
    switch field(slot).kind {
    case .bool: return fixed(slot, as: UInt8.self) <= 1
    case .decimal: return decimal(slot) != nil
    case .reference: return reference(slot).isSound
    case .string, .coded: return String(validating: variable(slot), as: UTF8.self) != nil
    case .place: return ListPlace(Array(variable(slot))) != nil
    case .externalString, .externalData: return hasSoundExternalValue(slot)
    default: return true
    }
  }

  /// Returns whether a list is well-formed; true for a property that is no list.
  func hasSoundElements(_ property: StoredProperty) -> Bool {
    guard let kind = property.elementKind, !isNull(property.slot), hasSoundValue(property.slot) else {
      return true
    }
    var elements = ListElements(variable(property.slot), of: kind)
    do throws(ListElements.Damage) { while try elements.next() != nil {} } catch { return false }
    return true
  }

  /// Returns whether the record has a value or a reference. The destination of the reference is checked elsewhere.
  private func hasSoundExternalValue(_ slot: Int) -> Bool {
    switch external(slot) {
    case .inline(let bytes)?:
      field(slot).kind == .externalData || String(validating: bytes, as: UTF8.self) != nil
    case .reference?: true
    case nil: false
    }
  }

  /// Returns the stored bytes of a slot.
  func valueBytes(_ slot: Int) -> Slice<UnsafeRawBufferPointer> { fixedBytes(slot) ?? variable(slot)[...] }

  private func fixedBytes(_ slot: Int) -> Slice<UnsafeRawBufferPointer>? {
    let field = self.field(slot)
    return field.kind.fixedByteCount.map { bytes[field.position..<field.position + $0] }
  }
}
