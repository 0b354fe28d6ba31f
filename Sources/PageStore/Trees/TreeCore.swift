import Synchronization

/// One version of one tree, with all lookups in it. Readers of snapshots and write transactions share this
/// code.
///
/// A plain value of a few words: copying it touches no reference count. The code that holds one keeps the
/// version alive by a snapshot or a transaction.
public struct TreeCore: Sendable {
  let pages: PageMap
  let root: TreeRoot
  // Safety: only touched atomically, and kept by the object that keeps the version alive
  // (``SnapshotExpiry``).
  /// Set when the version must no longer be read; nil if that never happens.
  nonisolated(unsafe) private let hasExpired: UnsafeMutablePointer<Atomic<Bool>>?

  init(root: TreeRoot, pool: PagePool, expiry: SnapshotExpiry? = nil) {
    self.root = root
    pages = pool.map
    hasExpired = expiry?.word
  }

  /// Throws `snapshotExpired` if the version must no longer be read. Called after each beginning of a read
  /// section, never before it.
  @inline(__always)
  func checkUnexpired() throws(StoreError) {
    if let hasExpired, hasExpired.pointee.load(ordering: .sequentiallyConsistent) { throw .snapshotExpired }
  }

  var pool: PagePool { pages.pool }

  /// Entries in the tree. O(1).
  var count: Int { Int(truncatingIfNeeded: root.count) }

  /// Runs `body` in a read section: pages that it finds stay in memory until it returns.
  @inline(__always)
  func reading<R>(
    lookups: Int = 1,
    _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let reader = pages.enter()
    defer { reader.leave(visiting: lookups &* Int(root.height)) }
    try checkUnexpired()
    return try body()
  }

  /// Returns the identity of the tree's pages of `level`.
  @inline(__always)
  func identity(_ level: Int) -> UInt64 {
    PageImage.identity(treeID: root.treeID, level: UInt8(truncatingIfNeeded: level))
  }

  /// Returns the root page; the tree isn't empty.
  @inline(__always)
  func rootPage() throws(StoreError) -> PageImage {
    try pages.page(root.reference, identity: identity(Int(root.height) &- 1))
  }

  /// Returns the child at `index` of a branch of `level`.
  @inline(__always)
  func child(_ page: PageImage, _ index: Int, below level: Int) throws(StoreError) -> PageImage {
    try pages.page(referredToAt: page.reference(index), identity: identity(level &- 1))
  }

  /// Returns the leaf in which `key` is or would be; the tree isn't empty.
  @inline(__always)
  private func leaf(for key: SearchKey) throws(StoreError) -> PageImage {
    if root.height == 1 { return try rootPage() }
    let (parent, index) = try leafPlace(for: key)
    return try child(parent, index, below: 1)
  }

  /// Returns the parent of the leaf in which `key` is or would be, and the leaf's index there; the tree has
  /// branches.
  @inline(__always)
  func leafPlace(for key: SearchKey) throws(StoreError) -> (parent: PageImage, index: Int) {
    var level = Int(root.height) &- 1
    var page = try rootPage()
    while true {
      let index = try page.childIndex(for: key, in: pages)
      if level == 1 { return (page, index) }
      page = try child(page, index, below: level)
      level &-= 1
    }
  }

  /// Returns the value for `key`; nil if there is none. O(log *n*).
  func find(_ key: UnsafeRawBufferPointer) throws(StoreError) -> FoundValue? {
    guard root.height > 0 else { return nil }
    let reader = pages.enter()
    do throws(StoreError) {
      try checkUnexpired()
      if let value = try locate(SearchKey(key)) {
        reader.protect(value: value.base)
        reader.end(visiting: Int(root.height))
        return FoundValue(value, protectedBy: reader)
      }
    } catch {
      reader.leave()
      throw error
    }
    reader.leave(visiting: Int(root.height))
    return nil
  }

  @inline(__always)
  private func locate(_ key: SearchKey) throws(StoreError) -> ValueBytes? {
    let leaf = try leaf(for: key)
    let (index, isEqual) = try leaf.lowerBound(of: key, in: pages)
    return isEqual ? try value(leaf, leaf.slot(index)) : nil
  }

  /// Returns whether the tree has `key`. O(log *n*).
  func contains(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard root.height > 0 else { return false }
    let key = SearchKey(key)
    return try reading { () throws(StoreError) in
      try leaf(for: key).lowerBound(of: key, in: pages).isEqual
    }
  }

  /// Returns the value of a leaf's entry.
  @inline(__always)
  func value(_ leaf: PageImage, _ slot: PageSlotWord) throws(StoreError) -> ValueBytes {
    let payload = leaf.leafPayload(slot)
    if !slot.valueOverflows { return ValueBytes(borrowing: payload, in: leaf.base) }
    return try pages.overflow(ChildReference(loading: payload.start), treeID: root.treeID)
  }
}

extension TreeCore {
  /// Returns the number of entries whose key is below `key`, or not above it if `inclusive`. O(log *n*).
  func rank(of key: UnsafeRawBufferPointer, inclusive: Bool = false) throws(StoreError) -> Int {
    guard root.height > 0 else { return 0 }
    return try reading { () throws(StoreError) in try rank(of: SearchKey(key), inclusive: inclusive) }
  }

  private func rank(of key: SearchKey, inclusive: Bool) throws(StoreError) -> Int {
    var level = Int(root.height) &- 1
    var page = try rootPage()
    var total = root.count
    var rank: UInt64 = 0
    while level > 0 {
      let index = try page.childIndex(for: key, in: pages)
      rank &+= page.entries(before: index, of: total)
      let reference = page.reference(index)
      total = reference.loadLittle(24, as: UInt64.self) & PageLocation.numberMask
      page = try pages.page(referredToAt: reference, identity: identity(level &- 1))
      level &-= 1
    }
    let (index, isEqual) = try page.lowerBound(of: key, in: pages)
    return Int(truncatingIfNeeded: rank) &+ index &+ (inclusive && isEqual ? 1 : 0)
  }

  /// Returns the number of entries whose key is in `range`. O(log *n*).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    let upper = try rank(of: range.upper, ifUnbounded: count, includesEqual: true)
    guard upper > 0 else { return 0 }
    return max(0, upper &- (try rank(of: range.lower, ifUnbounded: 0, includesEqual: false)))
  }

  /// Returns the number of entries before a bound. The key of an `including` bound itself counts if
  /// `includesEqual`, that of an `excluding` one if not.
  func rank(
    of bound: KeyRange.Bound,
    ifUnbounded: Int,
    includesEqual: Bool
  ) throws(StoreError) -> Int {
    switch bound {
    case .unbounded: ifUnbounded
    case .including(let key): try rank(of: key, inclusive: includesEqual)
    case .excluding(let key): try rank(of: key, inclusive: !includesEqual)
    }
  }

  private func rank(of key: [UInt8], inclusive: Bool) throws(StoreError) -> Int {
    try key.withBytes { bytes throws(StoreError) in try rank(of: bytes, inclusive: inclusive) }
  }
}

extension PageImage {
  /// Returns the number of entries below the children of a branch before `index`; `total` are below all
  /// children. Counts from the nearer end.
  @inline(__always)
  func entries(before index: Int, of total: UInt64) -> UInt64 {
    let count = self.count
    var sum: UInt64 = 0
    if index &+ index <= count {
      var child = 0
      while child < index {
        sum &+= self.count(ofChild: child)
        child &+= 1
      }
      return sum
    }
    var child = index
    while child < count {
      sum &+= self.count(ofChild: child)
      child &+= 1
    }
    return total &- sum
  }

  /// Returns the number of entries below a branch's child.
  @inline(__always)
  func count(ofChild index: Int) -> UInt64 {
    reference(index).loadLittle(24, as: UInt64.self) & PageLocation.numberMask
  }
}

extension Array where Element: BitwiseCopyable {
  /// Does what `withUnsafeBytes` does, with a typed error.
  @inline(__always)
  package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = withUnsafeBytes { bytes in
      Result { () throws(E) in try body(bytes) }
    }
    return try result.get()
  }
}
