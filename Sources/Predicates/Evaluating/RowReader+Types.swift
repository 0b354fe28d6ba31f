import Foundation

extension RowReader {
  /// Returns the value of a field as a type of a column. Nil if the value isn't of the type: it is missing and the
  /// type has no nil, or it is a raw value that no case has.
  package mutating func value<Value: ColumnType>(
    of field: RowField,
    as type: Value.Type,
    in column: ColumnOrigin
  ) throws -> Value? {
    if field.isObjectID { return Value(_columnValue: try value(of: field), of: column) }
    guard let record = try record(of: field), !field.isNull(in: record) else {
      return Value(_columnValue: .null, of: column)
    }
    if field.kind.isExternal { return Value(_columnValue: try value(of: field), of: column) }
    if field.kind.fixedByteCount == nil, field.bytes(in: record) == nil { throw damage(of: field) }
    return Value(
      _record: RecordView(validated: record, layout: paths.places[field.place].entity.layout),
      slot: field.slot,
      of: column
    )
  }

  /// The content of a field, for comparing and computing: only decimals are decoded.
  enum Content {
    case null
    /// The word of ``FilterWord``.
    case word(Int64)
    /// The bytes of a string, data or a UUID.
    case bytes(UnsafeRawBufferPointer)
    /// A decimal, which is decoded because equal decimals may have different bytes.
    case decimal(Decimal)
  }

  @inline(__always)
  mutating func content(of field: RowField) throws -> Content {
    if field.isObjectID {
      guard case .reference(let number) = try value(of: field) else { return .null }
      return .word(FilterWord.word(number.rawValue))
    }
    guard let record = try record(of: field), !field.isNull(in: record) else { return .null }
    if field.kind.hasBytes {
      guard let bytes = field.bytes(in: record) else { throw damage(of: field) }
      return .bytes(bytes)
    }
    if field.kind == .decimal { return .decimal(try decimal(of: field, in: record)) }
    return .word(FilterWord.word(of: field, in: record))
  }
}

extension RowReader {
  private func decimal(of field: RowField, in record: UnsafeRawBufferPointer) throws -> Decimal {
    guard let bytes = field.bytes(in: record), let value = StoredDecimal.read(bytes) else {
      throw damage(of: field)
    }
    return value
  }
}

extension AttributeKind {
  /// True if values compare by their bytes rather than by a word.
  @inline(__always)
  var hasBytes: Bool {
    self == .string || self == .data || self == .coded || self == .place || self == .uuid || isExternal
  }
}
