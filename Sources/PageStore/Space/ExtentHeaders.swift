/// Writes the headers of page extents, in two copies. An existing header is rewritten one copy at a time, the
/// second only when the first is durable: so a crash leaves a legible copy, with the present length or an
/// earlier one.
struct ExtentHeaders {
  private enum Copy {
    case first, second

    var offset: UInt64 { self == .first ? 0 : UInt64(ExtentHeader.copyOffset) }
    var other: Copy { self == .first ? .second : .first }
  }

  /// A header that was changed.
  private struct Change {
    var extent: Extent
    var revision: UInt64
    /// The copy that may not be durable.
    var unsynced: Copy
    /// True until the second copy is written.
    var isOtherStale = true
    /// True if writing the `unsynced` copy failed. It is retried after the next sync.
    var hasFailed = false
    /// True if the change was written before the sync in progress began.
    var isBeingSynced = false
  }

  private let file: StoreFile
  let identity: FormatIdentity
  private let synchronize: @Sendable () throws(StoreError) -> Void
  private let random: @Sendable () -> UInt64
  /// The newest commit.
  private let commit: @Sendable () -> UInt64
  private var changes: [Change] = []
  /// False if an earlier process may have written headers that aren't durable.
  private var isDurable: Bool
  /// True if headers of new extents were written since the last sync began.
  private var hasNew = false
  /// True if headers of new extents were written before the sync in progress began.
  private var areNewBeingSynced = false

  /// - Parameter synchronize: syncs the file, and fences the store if that fails.
  init(
    file: StoreFile,
    identity: FormatIdentity,
    isDurable: Bool,
    synchronize: @escaping @Sendable () throws(StoreError) -> Void,
    random: @escaping @Sendable () -> UInt64,
    commit: @escaping @Sendable () -> UInt64
  ) {
    self.file = file
    self.identity = identity
    self.isDurable = isDurable
    self.synchronize = synchronize
    self.random = random
    self.commit = commit
  }

  /// Writes both copies of the header of an extent that no checkpoint knows yet, without a sync.
  mutating func write(_ extent: Extent) throws(StoreError) {
    let block = header(extent).encodedBlock(identity)
    hasNew = true
    try block.withBytes { bytes throws(StoreError) in try file.write(bytes, at: extent.offset) }
  }

  /// Notes that an earlier process may have written a header and not synced it.
  mutating func doubtDurability() { isDurable = false }

  /// Rewrites the header of an existing extent, perhaps with another length or kind, without a sync. Throws
  /// `numbersUsedUp`, with nothing written, after the last possible revision.
  mutating func rewrite(_ extent: Extent) throws(StoreError) {
    try makeDurable()
    let last = changes.first { $0.extent.offset == extent.offset }
    let copies = try ExtentWalk.headerCopies(at: extent.offset, in: file, identity)
    let present = copies.compactMap { $0?.revision }
    let revision = (present + [last?.revision ?? 0]).reduce(0, max) + 1
    guard revision < ExtentHeader.revisionLimit else {
      throw StoreError.numbersUsedUp("revisions of an extent's header")
    }
    let change = Change(
      extent: extent,
      revision: revision,
      unsynced: last?.unsynced ?? Self.dispensable(copies)
    )
    try write(change.unsynced, of: change)
    changes.removeAll { $0.extent.offset == extent.offset }
    changes.append(change)
  }

  /// Syncs headers that an earlier process wrote: the newer of two copies may not be durable, and the older
  /// one is written next.
  private mutating func makeDurable() throws(StoreError) {
    if isDurable { return }
    // guard: sync-headers-found
    try synchronize()
    isDurable = true
  }

  /// Returns the copy to write first: the illegible or older one, as a crash may leave it.
  private static func dispensable(_ copies: [ExtentHeader?]) -> Copy {
    guard let first = copies.first ?? nil else { return .first }
    guard let second = copies.last ?? nil else { return .second }
    return second.revision < first.revision ? .second : .first
  }

  /// Forgets pending changes of headers that are cut off, because other data may soon be there.
  mutating func forget(behind offset: UInt64) { changes.removeAll { $0.extent.offset >= offset } }

  /// True if a checkpoint must sync the file even if it writes no page: headers of new extents were written.
  /// A new header page may be one that was cut off before, so that the record of pages in use need not
  /// change.
  var needsSync: Bool { hasNew || areNewBeingSynced }

  /// Notes that a sync of the headers written so far begins.
  mutating func beginSync() {
    areNewBeingSynced = needsSync
    hasNew = false
    for index in changes.indices { changes[index].isBeingSynced = true }
  }

  /// Notes that the headers written before ``beginSync()`` are durable, and writes their other copies. A copy
  /// that can't be written is retried after the next sync.
  mutating func endSync() {
    areNewBeingSynced = false
    changes.removeAll { $0.isBeingSynced && !$0.isOtherStale && !$0.hasFailed }
    for index in changes.indices where changes[index].isBeingSynced {
      let copy = changes[index].isOtherStale ? changes[index].unsynced.other : changes[index].unsynced
      changes[index].hasFailed = (try? write(copy, of: changes[index])) == nil
      changes[index].isBeingSynced = false
      changes[index].unsynced = copy
      changes[index].isOtherStale = false
    }
  }

  private func write(_ copy: Copy, of change: Change) throws(StoreError) {
    let sector = header(change.extent, revision: change.revision).encoded(identity)
    let offset = change.extent.offset + copy.offset
    try sector.withBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
  }

  private func header(_ extent: Extent, revision: UInt64 = 0) -> ExtentHeader {
    ExtentHeader(kind: .pages, extent: extent, salt: random(), commit: commit(), revision: revision)
  }
}
