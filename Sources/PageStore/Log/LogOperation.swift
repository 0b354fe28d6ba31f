/// One change of a transaction, in the form of its log record. Docs/FileFormat.md, section 7.
///
/// Keys and values point into the record.
enum LogOperation {
  case createTree(id: UInt32, name: UnsafeRawBufferPointer)
  case dropTree(id: UInt32)
  /// Selects the tree of the operations that follow, up to the next selection.
  case selectTree(id: UInt32)
  case put(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)
  case remove(key: UnsafeRawBufferPointer)
  case removeRange(KeyRange)

  enum Tag: UInt8, CaseIterable {
    case createTree = 1
    case dropTree = 2
    case selectTree = 3
    case put = 4
    case remove = 5
    case removeRange = 6
  }

  enum BoundTag: UInt8, CaseIterable {
    case unbounded = 0
    case including = 1
    case excluding = 2
  }
}

extension LogOperation {
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .createTree(let id, let name):
      bytes.append(Tag.createTree.rawValue)
      bytes.appendInteger(id)
      bytes.appendCounted(name)
    case .dropTree(let id):
      bytes.append(Tag.dropTree.rawValue)
      bytes.appendInteger(id)
    case .selectTree(let id):
      bytes.append(Tag.selectTree.rawValue)
      bytes.appendInteger(id)
    case .put(let key, let value):
      bytes.append(Tag.put.rawValue)
      bytes.appendCounted(key)
      bytes.appendCounted(value)
    case .remove(let key):
      bytes.append(Tag.remove.rawValue)
      bytes.appendCounted(key)
    case .removeRange(let range):
      bytes.append(Tag.removeRange.rawValue)
      Self.append(range.lower, to: &bytes)
      Self.append(range.upper, to: &bytes)
    }
  }

  /// Decodes the next operation; nil if the bytes aren't an operation.
  init?(_ reader: inout ByteReader) {
    guard let tag = reader.integer(UInt8.self).flatMap(Tag.init(rawValue:)) else { return nil }
    switch tag {
    case .createTree:
      guard let id = reader.integer(UInt32.self), let name = reader.countedSlice() else { return nil }
      self = .createTree(id: id, name: name)
    case .dropTree:
      guard let id = reader.integer(UInt32.self) else { return nil }
      self = .dropTree(id: id)
    case .selectTree:
      guard let id = reader.integer(UInt32.self) else { return nil }
      self = .selectTree(id: id)
    case .put:
      guard let key = reader.countedSlice(), let value = reader.countedSlice() else { return nil }
      self = .put(key: key, value: value)
    case .remove:
      guard let key = reader.countedSlice() else { return nil }
      self = .remove(key: key)
    case .removeRange:
      guard let lower = Self.bound(&reader), let upper = Self.bound(&reader) else { return nil }
      self = .removeRange(KeyRange(lower: lower, upper: upper))
    }
  }

  private static func append(_ bound: KeyRange.Bound, to bytes: inout [UInt8]) {
    func append(_ tag: BoundTag, _ key: [UInt8]) {
      bytes.append(tag.rawValue)
      key.withUnsafeBytes { bytes.appendCounted($0) }
    }
    switch bound {
    case .unbounded: bytes.append(BoundTag.unbounded.rawValue)
    case .including(let key): append(.including, key)
    case .excluding(let key): append(.excluding, key)
    }
  }

  private static func bound(_ reader: inout ByteReader) -> KeyRange.Bound? {
    guard let tag = reader.integer(UInt8.self).flatMap(BoundTag.init(rawValue:)) else { return nil }
    if tag == .unbounded { return .unbounded }
    guard let key = reader.countedSlice() else { return nil }
    return tag == .including ? .including([UInt8](key)) : .excluding([UInt8](key))
  }
}
