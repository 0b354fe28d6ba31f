import Foundation
import Synchronization

/// Four-byte numbers for values of which a process has few. A value keeps its number as long as the process lives.
private struct TagTable<Value: Hashable & Sendable>: Sendable {
  private var values: [Value] = []
  private var tags: [Value: UInt32] = [:]

  /// Returns the number of a value; nil for a value that has no number.
  func knownTag(of value: Value) -> UInt32? { tags[value] }

  /// Returns the number of a value, from 1. The number is the same every time.
  mutating func tag(of value: Value) -> UInt32 {
    if let tag = tags[value] { return tag }
    values.append(value)
    let tag = UInt32(values.count)
    tags[value] = tag
    return tag
  }

  /// Returns the value of a number that was given.
  subscript(tag: UInt32) -> Value { values[Int(tag) - 1] }
}

/// Numbers for the stores of which this process has had objects: a UUID takes sixteen bytes, but an object's state has
/// room for four.
enum StoreTags {
  private static let table = Mutex(TagTable<UUID>())

  /// Returns the number of a store, from 1.
  static func tag(of storeID: UUID) -> UInt32 { table.withLock { $0.tag(of: storeID) } }

  /// Returns the store of a number; nil for 0.
  static func storeID(_ tag: UInt32) -> UUID? { tag == 0 ? nil : table.withLock { $0[tag] } }
}

/// Numbers for the names of the entities in the schemas that this process has worked with. Names that come from
/// elsewhere, as in the text of an ID, get none: there may be any number of them.
enum NameTags {
  private static let table = Mutex(TagTable<String>())

  static func tag(of name: String) -> UInt32 { table.withLock { $0.tag(of: name) } }

  /// Returns the number of a name; nil for a name that has no number.
  static func knownTag(of name: String) -> UInt32? { table.withLock { $0.knownTag(of: name) } }

  static func name(_ tag: UInt32) -> String { table.withLock { $0[tag] } }
}
