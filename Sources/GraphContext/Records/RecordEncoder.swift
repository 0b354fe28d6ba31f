import Foundation
import Predicates

/// Writes records, byte for byte as ``RecordLayout`` says.
///
/// Call ``begin()``, then ``set(_:at:)`` for every slot in the order of the layout's `slotsByPlace`, then ``finish()``.
/// A slot that isn't set is nil. The order matters for values of variable width only: they are appended as they come.
package struct RecordEncoder: ~Copyable {
  package let layout: RecordLayout
  private var arena: RecordArena
  /// Ends of variable values written so far.
  private var endsWritten = 0
  private let variableByteLimit: Int
  /// The slots of the current record whose values were refused.
  private(set) var refused = RefusedSlots()
  /// True if any record has lacked a value that was too long for it.
  private var hasLostValue = false
  /// Computed once for all records that are made from others.
  private lazy var slotsByPlace = layout.slotsByPlace

  /// - Parameter variableByteLimit: the length of a record's values of variable width beyond which values are refused;
  ///   nil for the greatest length that a record has place for.
  package init(layout: RecordLayout, blockByteCount: Int = 1 << 20, variableByteLimit: Int? = nil) {
    self.layout = layout
    self.variableByteLimit = variableByteLimit ?? Self.greatestVariableByteCount(of: layout)
    self.arena = RecordArena(largestBlockByteCount: blockByteCount)
  }

  /// Returns the greatest length of the values of variable width of a record. The whole record is a value of the page
  /// store, whose length has 32 bits.
  static func greatestVariableByteCount(of layout: RecordLayout) -> Int {
    Int(UInt32.max) - layout.variableOffset
  }

  /// Returns whether a value goes into a record.
  ///
  /// - Parameters:
  ///   - byteCount: the length of the value.
  ///   - isTagged: whether a byte comes before the value.
  ///   - present: the length of the values of variable width that the record has.
  ///   - limit: the greatest length of these values together.
  static func fits(_ byteCount: Int, isTagged: Bool, behind present: Int, limit: Int) -> Bool {
    byteCount + (isTagged ? 1 : 0) <= limit - present
  }

  /// - Parameter entity: the name of the records' entity.
  /// - Throws: `wrongValue` if a record lacks a value that was too long for it: such records can't be stored.
  func checkComplete(of entity: String) throws(ContextError) {
    guard hasLostValue else { return }
    let message = "the values of an object of \(entity) \(ContextError.valuesAreTooLong)"
    throw ContextError(.wrongValue, message, context: .init(entity: entity))
  }

  /// The version of the records' own form; the layout itself is the schema's.
  package static let version: UInt16 = 1

  /// Starts a record in which everything is nil.
  package mutating func begin() {
    arena.begin(layout.variableOffset)
    endsWritten = 0
    refused = RefusedSlots()
    let record = arena.current
    record.storeBytes(of: Self.version.littleEndian, as: UInt16.self)
    record.storeBytes(of: layout.number.littleEndian, toByteOffset: 4, as: UInt32.self)
    let bitmap = RecordLayout.headerByteCount
    let count = layout.fields.count
    for byte in 0..<count >> 3 { record[bitmap + byte] = 0xFF }
    if count & 7 != 0 { record[bitmap + count >> 3] = 1 << UInt8(count & 7) - 1 }
  }

  /// Ends the record. Its bytes stay where they are until the encoder goes; the commit in them is 0.
  package mutating func finish() -> UnsafeMutableRawBufferPointer {
    endVariables(before: layout.variableCount)
    return arena.current
  }

  /// A copy of a record of the same layout, to be changed.
  mutating func copyWhole(_ record: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    _ = arena.copy(record)
    endsWritten = layout.variableCount
    refused = RefusedSlots()
    return arena.current
  }

  /// Forgets the records made so far: their memory will be used for other records.
  package mutating func removeAll() { arena.removeAll() }

  /// Writes the commit that changes a record into its header.
  package static func stamp(_ record: UnsafeMutableRawBufferPointer, commit: UInt64) {
    record.storeBytes(of: commit.littleEndian, toByteOffset: 8, as: UInt64.self)
  }
}

// MARK: - Values

extension RecordEncoder {
  /// Sets what a slot holds. False, and nothing is set, when the value is not of the slot's kind or out of its range,
  /// or when it is too long for the record (``refused``).
  package mutating func set(_ value: AttributeValue, at slot: Int) -> Bool {
    let isSet = write(value, at: slot)
    if !isSet, !refused.tooLong.contains(slot) { refused.unfitting.insert(slot) }
    return isSet
  }

  private mutating func write(_ value: AttributeValue, at slot: Int) -> Bool {
    switch (value, layout.fields[slot].kind) {
    case (.null, _): return true
    case (.bool(let value), .bool): set(fixed: value ? 1 : 0 as UInt8, at: slot)
    case (.int(let value), let kind) where kind.isInteger: return set(integer: value, kind, at: slot)
    case (.uint(let value), .uint64): set(fixed: value, at: slot)
    case (.reference(let value), .reference): set(fixed: value.rawValue, at: slot)
    case (.double(let value), .double): set(fixed: value.bitPattern, at: slot)
    case (.double(let value), .float): set(fixed: Float(value).bitPattern, at: slot)
    case (.date(let value), .date): set(fixed: value.timeIntervalSinceReferenceDate.bitPattern, at: slot)
    case (.decimal(let value), .decimal): StoredDecimal.withBytes(of: value) { set(fixedBytes: $0, at: slot) }
    case (.uuid(let value), .uuid): withUnsafeBytes(of: value.uuid) { set(fixedBytes: $0, at: slot) }
    case (.string(var value), .string), (.string(var value), .coded):
      return value.withUTF8 { set(variable: UnsafeRawBufferPointer($0), at: slot) }
    case (.data(let value), .data), (.data(let value), .place):
      return value.withUnsafeBytes { set(variable: $0, at: slot) }
    case (.string(var value), .externalString):
      return value.withUTF8 {
        set(variable: UnsafeRawBufferPointer($0), behind: ExternalValue.inlineTag, at: slot)
      }
    case (.data(let value), .externalData):
      return value.withUnsafeBytes { set(variable: $0, behind: ExternalValue.inlineTag, at: slot) }
    default: return false
    }
    return true
  }

  /// Sets a slot of an external kind to a value that lies elsewhere.
  mutating func set(_ reference: ExternalReference, at slot: Int) {
    _ = reference.encoded.withUnsafeBytes { set(variable: $0, behind: ExternalValue.referenceTag, at: slot) }
  }

  /// Copies the value of a slot from another record of the same layout.
  package mutating func copy(_ slot: Int, from record: borrowing RecordView) {
    if record.isNull(slot) { return }
    let field = layout.fields[slot]
    if let width = field.kind.fixedByteCount {
      set(
        fixedBytes: UnsafeRawBufferPointer(rebasing: record.bytes[field.position..<field.position + width]),
        at: slot
      )
    } else {
      _ = set(variable: record.variable(slot), at: slot)
    }
  }

  /// Writes a record of the same layout with another value in one slot, which has to be of its kind. The commit in it
  /// is 0.
  mutating func encode(
    _ record: borrowing RecordView,
    replacing slot: Int,
    with value: AttributeValue
  ) -> UnsafeMutableRawBufferPointer {
    begin()
    for other in slotsByPlace {
      if other == slot { _ = set(value, at: slot) } else { copy(other, from: record) }
    }
    return finish()
  }

  /// Writes a record with the values of `patch` in some slots and those of `record` in the others; all are of the same
  /// layout. The commit in it is 0.
  mutating func encode(
    _ record: borrowing RecordView,
    patchedBy patch: borrowing RecordView,
    in slots: SlotSet
  ) -> UnsafeMutableRawBufferPointer {
    if let bytes = encodeInPlace(record, patchedBy: patch, in: slots) { return bytes }
    begin()
    for slot in slotsByPlace {
      if slots.contains(slot) { copy(slot, from: patch) } else { copy(slot, from: record) }
    }
    return finish()
  }

  private mutating func set(integer value: Int64, _ kind: AttributeKind, at slot: Int) -> Bool {
    switch kind {
    case .int8: set(exactly: Int8(exactly: value), at: slot)
    case .int16: set(exactly: Int16(exactly: value), at: slot)
    case .int32: set(exactly: Int32(exactly: value), at: slot)
    case .int64: set(exactly: value, at: slot)
    case .uint8: set(exactly: UInt8(exactly: value), at: slot)
    case .uint16: set(exactly: UInt16(exactly: value), at: slot)
    case .uint32: set(exactly: UInt32(exactly: value), at: slot)
    default: set(exactly: UInt64(exactly: value), at: slot)
    }
  }

  private mutating func set<T: FixedWidthInteger & BitwiseCopyable>(exactly value: T?, at slot: Int) -> Bool {
    guard let value else { return false }
    set(fixed: value, at: slot)
    return true
  }

  private mutating func set<T: FixedWidthInteger & BitwiseCopyable>(fixed value: T, at slot: Int) {
    markPresent(slot)
    arena.current.storeBytes(of: value.littleEndian, toByteOffset: layout.fields[slot].position, as: T.self)
  }

  private mutating func set(fixedBytes bytes: UnsafeRawBufferPointer, at slot: Int) {
    markPresent(slot)
    let position = layout.fields[slot].position
    UnsafeMutableRawBufferPointer(rebasing: arena.current[position...]).copyMemory(from: bytes)
  }

  /// Sets a value of variable width. False, and nothing is set, when it is too long for the record.
  ///
  /// - Parameter tag: a byte that comes first.
  private mutating func set(
    variable bytes: UnsafeRawBufferPointer,
    behind tag: UInt8? = nil,
    at slot: Int
  ) -> Bool {
    let ordinal = layout.fields[slot].position
    if ordinal < endsWritten { fatalError("values of variable width are set in the order of their places") }
    let present = arena.current.count - layout.variableOffset
    guard Self.fits(bytes.count, isTagged: tag != nil, behind: present, limit: variableByteLimit) else {
      refused.tooLong.insert(slot)
      hasLostValue = true
      return false
    }
    markPresent(slot)
    endVariables(before: ordinal)
    if let tag { arena.extend(by: 1).storeBytes(of: tag, as: UInt8.self) }
    if let source = bytes.baseAddress, !bytes.isEmpty {
      arena.extend(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
    }
    endVariables(before: ordinal + 1)
    return true
  }

  private mutating func markPresent(_ slot: Int) {
    let field = layout.fields[slot]
    // The compiler can't change a byte of `arena.current` in place when it builds for ThreadSanitizer.
    let record = arena.current
    record[Int(field.nullByte)] &= ~field.nullMask
  }

  /// Ends every variable value below `ordinal` that has no end yet, at the present end of the record.
  private mutating func endVariables(before ordinal: Int) {
    let record = arena.current
    let end = UInt32(truncatingIfNeeded: record.count - layout.variableOffset)
    while endsWritten < ordinal {
      record.storeBytes(
        of: end.littleEndian,
        toByteOffset: layout.endsOffset + 4 * endsWritten,
        as: UInt32.self
      )
      endsWritten += 1
    }
  }
}
