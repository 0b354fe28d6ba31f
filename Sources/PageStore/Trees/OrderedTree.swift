/// A tree that can be read: one of a snapshot, or one of a write transaction.
public protocol OrderedTree {
  /// The version of the tree, opaque, for the methods of the extension. Throws `.transactionEnded` after the
  /// transaction.
  var core: TreeCore { get throws(StoreError) }

  /// Returns a cursor over the entries whose key is in `range`.
  func cursor(in range: KeyRange) throws(StoreError) -> TreeCursor
}

extension OrderedTree {
  /// Entries in the tree. O(1).
  public var count: Int {
    get throws(StoreError) { try core.count }
  }

  /// Returns a cursor over all entries.
  public func cursor() throws(StoreError) -> TreeCursor { try cursor(in: .all) }

  /// Returns the value for `key`, without a copy wherever possible; nil if there is none. In a write
  /// transaction it is valid until the tree's next change. O(log *n*).
  package func find(_ key: UnsafeRawBufferPointer) throws(StoreError) -> FoundValue? {
    try core.find(key)
  }

  /// Calls `body` with the value for `key`, or with nil if there is none. O(log *n*).
  public func withValue<R>(for key: [UInt8], _ body: (RawSpan?) throws -> R) throws -> R {
    try key.withUnsafeBytes { key in
      guard let value = try core.find(key) else { return try body(nil) }
      return try value.withBytes { bytes in try body(bytes.bytes) }
    }
  }

  /// Returns a copy of the value for `key`; nil if there is none. O(log *n*).
  public func value(for key: [UInt8]) throws(StoreError) -> [UInt8]? {
    try key.withBytes { key throws(StoreError) in
      guard let value = try core.find(key) else { return nil }
      return value.withBytes { [UInt8]($0) }
    }
  }

  /// Returns whether the tree has `key`. O(log *n*).
  public func contains(_ key: [UInt8]) throws(StoreError) -> Bool {
    try key.withBytes { bytes throws(StoreError) in try core.contains(bytes) }
  }

  /// Returns the number of entries whose key is in `range`. O(log *n*), however many they are.
  public func count(in range: KeyRange) throws(StoreError) -> Int { try core.count(in: range) }

  /// Returns the number of entries whose key is below `key`. O(log *n*).
  public func rank(of key: [UInt8]) throws(StoreError) -> Int {
    try key.withBytes { bytes throws(StoreError) in try core.rank(of: bytes) }
  }

  /// Does what ``rank(of:)`` does, for borrowed bytes.
  func rank(of key: UnsafeRawBufferPointer) throws(StoreError) -> Int { try core.rank(of: key) }

  /// Does what ``contains(_:)-(Array<UInt8>)`` does, for borrowed bytes.
  package func contains(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool { try core.contains(key) }

  /// Returns copies of key and value of the entry that has `position` entries before it; nil if there is
  /// none. O(log *n*).
  public func entry(at position: Int) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    var cursor = try cursor(in: .all)
    guard try cursor.seek(toPosition: position) else { return nil }
    return (key: [UInt8](try cursor.key()), value: [UInt8](try cursor.value()))
  }

  /// Calls `body` with key and value of each entry in `range`, in order or reversed, until it returns false.
  public func forEach(
    in range: KeyRange = .all,
    reversed: Bool = false,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var cursor = try cursor(in: range)
    while reversed ? try cursor.previous() : try cursor.next() {
      guard try cursor.withEntry(body) else { return }
    }
  }
}

/// A tree of a snapshot, which it keeps alive.
public struct TreeReader: OrderedTree, Sendable {
  /// The snapshot's version of the tree.
  public let core: TreeCore
  private let owner: any AnyObject & Sendable

  /// - Parameter owner: keeps `core` valid.
  init(core: TreeCore, owner: any AnyObject & Sendable) {
    self.core = core
    self.owner = owner
  }

  /// Returns a cursor over the entries whose key is in `range`.
  public func cursor(in range: KeyRange = .all) -> TreeCursor {
    TreeCursor(core: core, range: range, owner: owner, changes: core.pool.unchanging)
  }
}
