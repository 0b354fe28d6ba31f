import Foundation

/// A reader of the values of one row after the other. It follows relationships only when a value is needed.
package struct RowReader {
  let paths: RowPaths
  /// The source of records at the other end of relationships; without one, every relationship leads nowhere.
  private let source: (any RecordSource)?
  /// The objects whose records are at the places of elements; ``ObjectNumber/none`` at all others.
  private var numbers: [ObjectNumber]
  /// The records found for this row, by place.
  private var records: [UnsafeRawBufferPointer?]
  /// True for each place whose record was looked up; always true for the row's own.
  private var isKnown: [Bool]
  private var hasFollowed = false
  /// The stack of a calculation; empty between calculations.
  var stack: [AttributeValue] = []

  package init(_ paths: RowPaths, source: (any RecordSource)?) {
    self.paths = paths
    self.source = source
    numbers = Array(repeating: .none, count: paths.places.count)
    records = Array(repeating: nil, count: paths.places.count)
    isKnown = Array(repeating: false, count: paths.places.count)
  }

  /// Begins the next row. The bytes must stay valid until the row after it begins.
  package mutating func begin(_ number: ObjectNumber, _ record: UnsafeRawBufferPointer) throws(DamagedRecord)
  {
    guard record.count >= paths.places[0].byteCount else {
      throw DamagedRecord(entity: paths.places[0].entity.name, number: number)
    }
    numbers[0] = number
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

  /// Calls `body` for each element of a relationship, whose record is then at `place`, until `body` returns false.
  ///
  /// - Parameters:
  ///   - owner: the field that leads to the object that has the relationship; or to the list.
  ///   - relationship: the relationship; nil for a list.
  /// - Returns: false if `body` did.
  mutating func forEachElement(
    of owner: RowField,
    in relationship: Int?,
    at place: Int,
    _ body: (inout RowReader) throws -> Bool
  ) throws -> Bool {
    guard let relationship else { return try forEachValue(of: owner, at: place, body) }
    guard case .reference(let number) = try value(of: owner), let source else { return true }
    hasFollowed = true
    for element in try source.elements(of: number, in: relationship) {
      guard let record = try source.record(element, at: place) else { continue }
      guard record.count >= paths.places[place].byteCount else {
        throw DamagedRecord(entity: paths.places[place].entity.name, number: element)
      }
      forgetRecords(behind: place)
      numbers[place] = element
      records[place] = record
      isKnown[place] = true
      guard try body(&self) else { return false }
    }
    return true
  }

  /// Calls `body` for each element of a list, for which a record is made.
  private mutating func forEachValue(
    of list: RowField,
    at place: Int,
    _ body: (inout RowReader) throws -> Bool
  ) throws -> Bool {
    guard let record = try record(of: list), !list.isNull(in: record) else { return true }
    guard let json = list.bytes(in: record) else { throw damage(of: list) }
    let element = ElementRecord(paths.places[place].entity.layout)
    var elements = ListElements(json, of: element.kind)
    // Records that the element leads to are looked up again for the next row.
    hasFollowed = true
    while let value = try nextElement(&elements, of: list) {
      numbers[place] = .none
      records[place] = element.hold(value)
      isKnown[place] = true
      guard try body(&self) else { return false }
    }
    return true
  }

  private func nextElement(
    _ elements: inout ListElements,
    of list: RowField
  ) throws(DamagedRecord) -> AttributeValue? {
    do throws(ListElements.Damage) { return try elements.next() } catch { throw damage(of: list) }
  }

  /// Returns the number of elements.
  mutating func elementCount(of owner: RowField, in relationship: Int) throws -> Int {
    guard case .reference(let number) = try value(of: owner), let source else { return 0 }
    return try source.elementCount(of: number, in: relationship)
  }

  /// Forgets the records that an element's relationships led to. Places come after those that lead to them.
  private mutating func forgetRecords(behind place: Int) {
    isKnown[place] = false
    for other in place + 1..<max(place + 1, records.count) where !paths.places[other].isElement {
      if !isKnown[paths.places[other].parent] { isKnown[other] = false }
    }
  }

  /// Returns the record that a field lies in; nil when a relationship on the way leads nowhere.
  @inline(__always)
  mutating func record(of field: RowField) throws -> UnsafeRawBufferPointer? {
    isKnown[field.place] ? records[field.place] : try follow(to: field.place)
  }

  private mutating func follow(to place: Int) throws -> UnsafeRawBufferPointer? {
    let target = paths.places[place]
    isKnown[place] = true
    records[place] = nil
    hasFollowed = true
    guard let parent = try record(of: target.reference), !target.reference.isNull(in: parent) else {
      return nil
    }
    let number = target.reference.number(in: parent)
    guard let record = try source?.record(number, at: place) else { return nil }
    guard record.count >= target.byteCount else {
      throw DamagedRecord(entity: target.entity.name, number: number)
    }
    numbers[place] = number
    records[place] = record
    return record
  }

  func damage(of field: RowField) -> DamagedRecord {
    DamagedRecord(entity: paths.places[field.place].entity.name, number: numbers[0])
  }

  /// Returns the value of a field; `null` where the value, or an object on the way, is missing.
  package mutating func value(of field: RowField) throws -> AttributeValue {
    if field.isObjectID { return .reference(numbers[field.place]) }
    guard let record = try record(of: field) else { return .null }
    if field.isNull(in: record) {
      return field.kind == .place ? .data(Data(ListPlace(of: numbers[field.place]).bytes)) : .null
    }
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
    case .reference: return .reference(field.number(in: record))
    case .externalString, .externalData: return try external(field, in: record)
    case .uuid, .string, .data, .coded, .place, .decimal:
      guard let bytes = field.bytes(in: record), let value = field.value(of: bytes) else {
        throw damage(of: field)
      }
      return value
    }
  }
}

extension RowReader {
  /// Returns the value of a field of an external kind that isn't nil. A value outside of the record is read.
  private func external(_ field: RowField, in record: UnsafeRawBufferPointer) throws -> AttributeValue {
    switch field.bytes(in: record).flatMap(ExternalValue.init) {
    case .inline(let bytes)?: return field.kind.externalValue(bytes)
    case .reference(let reference)?:
      guard let source else { throw damage(of: field) }
      let bytes = try source.externalValue(reference, at: field.slot, of: field.place)
      return field.kind.externalValue(bytes)
    case nil: throw damage(of: field)
    }
  }
}

extension RowField {
  /// Returns the number that a record holds in a field of kind `reference`; it isn't nil.
  @inline(__always)
  func number(in record: UnsafeRawBufferPointer) -> ObjectNumber {
    ObjectNumber(rawValue: load(UInt64.self, from: record))
  }

  /// Returns the value of the bytes of a kind that compares by bytes; nil for bytes that stand for no value.
  func value(of bytes: UnsafeRawBufferPointer) -> AttributeValue? {
    switch kind {
    case .string, .coded: .string(String(decoding: bytes, as: UTF8.self))
    case .uuid: .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    case .decimal: StoredDecimal.read(bytes).map(AttributeValue.decimal)
    default: .data(Data(bytes))
    }
  }
}
