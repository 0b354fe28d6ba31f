/// Where each stored value of an entity lies in a record's bytes.
///
/// A record is
///
/// | bytes | what |
/// |---|---|
/// | 0–1 | version of the entity's layout, little-endian |
/// | 2–3 | tag of the concrete entity, 0 without inheritance |
/// | 4–7 | reserved, 0 |
/// | 8–15 | the commit that last changed the record, little-endian |
/// | 16… | null bitmap, one bit a slot, least significant bit first; 1 is nil; padded with 0 to a whole byte |
/// | … | fixed section: the values of fixed width in slot order, packed, little-endian, 0 where nil |
/// | … | ends of the values of variable width, in slot order, `UInt32` each, counted from the start of the variable section |
/// | … | variable section: the bytes of those values, one after the other; nothing where nil |
///
/// Reading one value touches the bitmap, the value and at most two ends.
public struct RecordLayout: Sendable, Hashable {
  /// Bytes before the null bitmap.
  public static let headerByteCount = 16

  /// One stored value's place.
  public struct Field: Sendable, Hashable {
    public let kind: AttributeKind
    /// For a fixed width: bytes from the start of the record. For a variable width: its ordinal among those.
    public let position: Int
  }

  /// In slot order.
  public let fields: [Field]
  /// Bytes from the start of the record to the table of ends.
  public let endsOffset: Int
  /// How many values have a variable width.
  public let variableCount: Int

  public init(kinds: [AttributeKind]) {
    var offset = Self.headerByteCount + (kinds.count + 7) / 8
    var variableCount = 0
    fields = kinds.map { kind in
      if let width = kind.fixedByteCount {
        defer { offset += width }
        return Field(kind: kind, position: offset)
      }
      defer { variableCount += 1 }
      return Field(kind: kind, position: variableCount)
    }
    endsOffset = offset
    self.variableCount = variableCount
  }

  /// Bytes from the start of the record to the variable section; no valid record is shorter.
  public var variableOffset: Int { endsOffset + 4 * variableCount }
}
