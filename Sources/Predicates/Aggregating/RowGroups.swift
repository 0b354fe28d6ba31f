import Foundation

/// The groups of rows by the values of some fields: nil is a value, −0.0 equals 0.0, 1.00 equals 1, all NaNs are equal,
/// and strings are compared by their bytes.
package struct RowGroups {
  private let fields: [RowField]
  /// The groups of the objects that a reference led to, if all fields lie behind one reference of the row.
  private var referenced: ReferencedGroups?
  private var table = GroupTable()
  /// The group of the rows whose only field is nil.
  private var nullGroup: Int?
  private var key: [UInt8] = []

  private enum Marker {
    static let null: UInt8 = 0
    static let word: UInt8 = 1
    static let bytes: UInt8 = 2
  }

  package init(_ fields: [RowField], _ paths: RowPaths) {
    self.fields = fields
    referenced = ReferencedGroups(fields, paths)
  }

  package var count: Int { table.count }

  /// The number of values that identify a group.
  var keyCount: Int { fields.count }

  /// Returns the row's group, counted from 0 in the order in which groups are first seen.
  package mutating func group(of row: inout RowReader) throws -> Int {
    guard let object = try referenced?.object(of: &row) else { return try groupByFields(&row) }
    if let known = referenced?.group(of: object) { return known }
    let group = try groupByFields(&row)
    referenced?.add(group)
    return group
  }

  private mutating func groupByFields(_ row: inout RowReader) throws -> Int {
    guard fields.count == 1 else {
      try collectKey(&row)
      return key.withUnsafeBytes { table.number(of: $0) }
    }
    switch try row.content(of: fields[0]) {
    case .bytes(let bytes): return table.number(of: bytes)
    case .word(let word): return table.number(of: word)
    case .decimal(let value): return DecimalKey.withBytes(of: value) { table.number(of: $0) }
    case .null:
      if let nullGroup { return nullGroup }
      let group = table.newNumber()
      nullGroup = group
      return group
    }
  }

  /// Returns the values of a group, one for each field.
  func values(of group: Int) -> [AttributeValue] {
    if fields.count == 1 {
      if group == nullGroup { return [.null] }
      return table.withBytes(of: group) { [fields[0].value(ofContent: $0)] }
    }
    return table.withBytes(of: group) { key in
      var position = 0
      return fields.map { field in
        let marker = key[position]
        position += 1
        if marker == Marker.null { return .null }
        var count = 8
        if marker == Marker.bytes {
          count = Int(key.loadUnaligned(fromByteOffset: position, as: UInt64.self))
          position += 8
        }
        defer { position += count }
        return field.value(ofContent: UnsafeRawBufferPointer(rebasing: key[position..<position + count]))
      }
    }
  }

  /// Collects each value with a marker and, for bytes, their count.
  private mutating func collectKey(_ row: inout RowReader) throws {
    key.removeAll(keepingCapacity: true)
    for field in fields {
      switch try row.content(of: field) {
      case .null: key.append(Marker.null)
      case .word(let word):
        key.append(Marker.word)
        withUnsafeBytes(of: word) { key.append(contentsOf: $0) }
      case .bytes(let bytes): append(bytes)
      case .decimal(let value): DecimalKey.withBytes(of: value) { append($0) }
      }
    }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    key.append(Marker.bytes)
    withUnsafeBytes(of: UInt64(bytes.count)) { key.append(contentsOf: $0) }
    key.append(contentsOf: bytes)
  }
}

extension RowField {
  /// Returns the value of bytes from ``RowReader/content(of:)``.
  func value(ofContent bytes: UnsafeRawBufferPointer) -> AttributeValue {
    if kind == .decimal { return DecimalKey.read(bytes).map { .decimal($0.value) } ?? .null }
    return kind.hasBytes
      ? value(of: bytes) ?? .null : FilterWord.value(bytes.loadUnaligned(as: Int64.self), kind)
  }
}
