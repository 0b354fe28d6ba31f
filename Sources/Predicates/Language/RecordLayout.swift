/// The positions of an entity's stored values in a record's bytes.
///
/// A record is
///
/// | bytes | content |
/// |---|---|
/// | 0–1 | version of the records' form, little-endian |
/// | 2–3 | tag of the concrete entity, 0 without inheritance |
/// | 4–7 | number of the layout among those that the entity has had, little-endian |
/// | 8–15 | the commit that last changed the record, little-endian |
/// | 16… | null bitmap, one bit a slot, least significant bit first; 1 is nil; padded with 0 to a whole byte |
/// | … | fixed section: the values of fixed width in slot order, packed, little-endian, 0 where nil |
/// | … | ends of the values of variable width, in slot order, `UInt32` each, counted from the start of the variable section |
/// | … | variable section: the bytes of those values, one after the other; nothing where nil |
///
/// Reading one value touches the bitmap, the value and at most two ends.
///
/// The slots in this table are the store's. A model that declares its properties in another order counts them in
/// its own; a layout knows the *place* of each, which is its slot in the store.
public struct RecordLayout: Sendable, Hashable {
  /// The number of bytes before the null bitmap.
  public static let headerByteCount = 16

  /// The position of one stored value.
  public struct Field: Sendable, Hashable {
    /// The kind in which the value is stored.
    public let kind: AttributeKind
    /// The bit of ``nullByte`` that is set where the value is nil.
    public let nullMask: UInt8
    /// The offset of the null byte from the start of the record.
    public let nullByte: UInt16
    /// For a fixed width: the offset from the start of the record. For a variable width: the ordinal among the values
    /// of variable width.
    public let position: Int

    fileprivate init(kind: AttributeKind, position: Int, place: Int) {
      self.kind = kind
      self.position = position
      nullMask = 1 << UInt8(place & 7)
      nullByte = UInt16(RecordLayout.headerByteCount + place >> 3)
    }

    /// The store's slot of the value, as in the table above.
    public var place: Int {
      8 * (Int(nullByte) - RecordLayout.headerByteCount) + nullMask.trailingZeroBitCount
    }
  }

  /// The layout's number among those that its entity has had; each record contains the number of its layout.
  public let number: UInt32
  /// The fields, in the order of the model's slots.
  public let fields: [Field]
  // Safety: memory of `table`, which lives as long as a copy of the layout. A view that held the layout itself
  // would count references for each value that an object reads.
  @usableFromInline nonisolated(unsafe) let fieldsStart: UnsafePointer<Field>
  @usableFromInline let fieldCount: Int
  private let table: FieldTable
  /// The offset of the table of ends from the start of the record.
  public let endsOffset: Int
  /// The number of values of variable width.
  public let variableCount: Int

  /// Makes a layout whose places are the slots.
  ///
  /// - Parameter kinds: in slot order; each value's place is its slot.
  public init(kinds: [AttributeKind]) {
    self.init(kinds: kinds, places: Array(kinds.indices))
  }

  /// Makes a layout.
  ///
  /// - Parameters:
  ///   - kinds: in the order of the model's slots.
  ///   - places: the place of each, a permutation of `kinds.indices`.
  ///   - number: the layout's number among those of its entity.
  public init(kinds: [AttributeKind], places: [Int], number: UInt32 = 0) {
    self.number = number
    let slots = kinds.indices.sorted { places[$0] < places[$1] }
    var fields: [Field?] = Array(repeating: nil, count: kinds.count)
    var offset = Self.headerByteCount + (kinds.count + 7) / 8
    var variableCount = 0
    for (place, slot) in slots.enumerated() {
      if let width = kinds[slot].fixedByteCount {
        fields[slot] = Field(kind: kinds[slot], position: offset, place: place)
        offset += width
      } else {
        fields[slot] = Field(kind: kinds[slot], position: variableCount, place: place)
        variableCount += 1
      }
    }
    self.fields = fields.compactMap { $0 }
    table = FieldTable(self.fields)
    fieldsStart = table.start
    fieldCount = table.count
    endsOffset = offset
    self.variableCount = variableCount
  }

  /// Returns the number of the layout that a record says it has. Nil for too few bytes.
  @inlinable
  public static func number(of record: UnsafeRawBufferPointer) -> UInt32? {
    guard record.count >= headerByteCount else { return nil }
    return UInt32(littleEndian: record.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  /// Returns whether records of both layouts have their values in the same positions.
  package func hasPlaces(of other: RecordLayout) -> Bool { fields == other.fields }

  /// The model's slots in the order of their places. Values of variable width are written in this order. O(n log n).
  public var slotsByPlace: [Int] { fields.indices.sorted { fields[$0].place < fields[$1].place } }

  /// The offset of the variable section from the start of the record; no valid record is shorter.
  @inlinable
  public var variableOffset: Int { endsOffset + 4 * variableCount }
}

extension RecordLayout {
  public static func == (left: RecordLayout, right: RecordLayout) -> Bool {
    left.number == right.number && left.fields == right.fields
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(fields)
  }
}

/// The fields of a layout at an address that stays, so that views can point to them.
private final class FieldTable: Sendable {
  // Safety: the memory is written before the initialiser returns, and only read until the deinitialiser.
  nonisolated(unsafe) let start: UnsafePointer<RecordLayout.Field>
  let count: Int

  init(_ fields: [RecordLayout.Field]) {
    let memory = UnsafeMutablePointer<RecordLayout.Field>.allocate(capacity: fields.count)
    memory.initialize(from: fields, count: fields.count)
    start = UnsafePointer(memory)
    count = fields.count
  }

  deinit { start.deallocate() }
}
