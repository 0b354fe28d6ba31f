import Foundation

/// Reads the values of one row after the other, following relationships only where a value is asked for.
package struct RowReader {
  package let paths: RowPaths
  /// Asked only when a relationship is followed; without one, every relationship leads nowhere.
  private let source: (any RecordSource)?
  private var number: UInt64 = 0
  /// The records found for this row, by place.
  private var records: [UnsafeRawBufferPointer?]
  /// Which of them were looked for; a bit a place, the row's own always set.
  private var isKnown: [Bool]
  private var hasFollowed = false

  package init(_ paths: RowPaths, source: (any RecordSource)?) {
    self.paths = paths
    self.source = source
    records = Array(repeating: nil, count: paths.places.count)
    isKnown = Array(repeating: false, count: paths.places.count)
  }

  /// Turns to the next row. The bytes must stay until the one after.
  package mutating func begin(_ number: UInt64, _ record: UnsafeRawBufferPointer) throws(DamagedRecord) {
    guard record.count >= paths.places[0].byteCount else {
      throw DamagedRecord(entity: paths.places[0].entity, number: number)
    }
    self.number = number
    records[0] = record
    isKnown[0] = true
    guard hasFollowed else { return }
    for place in records.indices.dropFirst() {
      records[place] = nil
      isKnown[place] = false
    }
    hasFollowed = false
    source?.releaseRecords()
  }

  /// The record that a field lies in; nil when a relationship on the way leads nowhere.
  @inline(__always)
  mutating func record(of field: RowField) throws -> UnsafeRawBufferPointer? {
    isKnown[field.place] ? records[field.place] : try follow(to: field.place)
  }

  private mutating func follow(to place: Int) throws -> UnsafeRawBufferPointer? {
    let target = paths.places[place]
    isKnown[place] = true
    hasFollowed = true
    guard let parent = try record(of: target.reference), !target.reference.isNull(in: parent) else {
      return nil
    }
    let number = target.reference.load(UInt64.self, from: parent)
    guard let record = try source?.record(number, at: place) else { return nil }
    guard record.count >= target.byteCount else { throw DamagedRecord(entity: target.entity, number: number) }
    records[place] = record
    return record
  }

  func damage(of field: RowField) -> DamagedRecord {
    DamagedRecord(entity: paths.places[field.place].entity, number: number)
  }

  /// The value of a field; `null` where it, or an object on the way, is missing.
  package mutating func value(of field: RowField) throws -> AttributeValue {
    if field.isObjectID { return .reference(number) }
    guard let record = try record(of: field), !field.isNull(in: record) else { return .null }
    switch field.kind {
    case .bool: return .bool(field.load(UInt8.self, from: record) != 0)
    case .int8: return .int(Int64(field.load(Int8.self, from: record)))
    case .int16: return .int(Int64(field.load(Int16.self, from: record)))
    case .int32: return .int(Int64(field.load(Int32.self, from: record)))
    case .int64: return .int(field.load(Int64.self, from: record))
    case .uint8: return .int(Int64(field.load(UInt8.self, from: record)))
    case .uint16: return .int(Int64(field.load(UInt16.self, from: record)))
    case .uint32: return .int(Int64(field.load(UInt32.self, from: record)))
    case .uint64: return .unsigned(field.load(UInt64.self, from: record))
    case .float: return .double(Double(Float(bitPattern: field.load(UInt32.self, from: record))))
    case .double: return .double(Double(bitPattern: field.load(UInt64.self, from: record)))
    case .date:
      return .date(
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: field.load(UInt64.self, from: record)))
      )
    case .reference: return .reference(field.load(UInt64.self, from: record))
    case .uuid, .string, .data:
      guard let bytes = field.bytes(in: record) else { throw damage(of: field) }
      return field.value(of: bytes)
    }
  }
}

extension RowField {
  fileprivate func value(of bytes: UnsafeRawBufferPointer) -> AttributeValue {
    switch kind {
    case .string: .string(String(decoding: bytes, as: UTF8.self))
    case .uuid: .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    default: .data(Data(bytes))
    }
  }
}
