/// Writes the headers of page extents, in two copies. A header that is there already is written one copy at a time, the
/// other one only when that is durable: so a crash leaves one that is legible, with the present length or one from before.
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
    /// True until the second of the two copies is written.
    var isOtherStale = true
    /// True if writing the `unsynced` copy failed; it is written again after the next sync.
    var hasFailed = false
    /// True if the change was written before the sync in progress began.
    var isBeingSynced = false
  }

  private let file: StoreFile
  let identity: FormatIdentity
  private let random: @Sendable () -> UInt64
  /// The commit that is being made, or was last.
  private let commit: @Sendable () -> UInt64
  private var changes: [Change] = []
  /// False if a process before may have written headers that are not durable.
  private var isDurable: Bool
  /// Whether headers of new extents were written since the last sync began, and before that and are not synced yet.
  private var hasNew = false
  private var areNewBeingSynced = false

  init(
    file: StoreFile,
    identity: FormatIdentity,
    isDurable: Bool,
    random: @escaping @Sendable () -> UInt64,
    commit: @escaping @Sendable () -> UInt64
  ) {
    self.file = file
    self.identity = identity
    self.isDurable = isDurable
    self.random = random
    self.commit = commit
  }

  /// Writes both copies of the header of an extent that no checkpoint knows yet. Unsynced.
  mutating func write(_ extent: Extent) throws(StoreError) {
    let block = header(extent).encodedBlock(identity)
    hasNew = true
    try block.withBytes { bytes throws(StoreError) in try file.write(bytes, at: extent.offset) }
  }

  /// Writes the header of an extent that is there already, perhaps with another length or of another kind. Unsynced.
  mutating func rewrite(_ extent: Extent) throws(StoreError) {
    try makeDurable()
    let last = changes.first { $0.extent.offset == extent.offset }
    let copies = try ExtentWalk.headerCopies(at: extent.offset, in: file, identity)
    let present = copies.compactMap { $0?.revision }
    let change = Change(
      extent: extent,
      revision: (present + [last?.revision ?? 0]).reduce(0, max) + 1,
      unsynced: last?.unsynced ?? Self.dispensable(copies)
    )
    try write(change.unsynced, of: change)
    changes.removeAll { $0.extent.offset == extent.offset }
    changes.append(change)
  }

  /// Of the two copies of a header that was being written when a process died, the newer may not be durable, and the older be
  /// the one that is written next.
  private mutating func makeDurable() throws(StoreError) {
    if isDurable { return }
    // guard: sync-headers-found
    try file.synchronizeApart()
    isDurable = true
  }

  /// The copy that may be lost: after a crash one of them may be illegible, or older than the other.
  private static func dispensable(_ copies: [ExtentHeader?]) -> Copy {
    guard let first = copies.first ?? nil else { return .first }
    guard let second = copies.last ?? nil else { return .second }
    return second.revision < first.revision ? .second : .first
  }

  /// Forgets what is left to do for headers that are cut off: something else may be there soon.
  mutating func forget(behind offset: UInt64) { changes.removeAll { $0.extent.offset >= offset } }

  /// Whether a checkpoint has to sync the file even if it writes no page: it may name a header page that was cut off before, and that the
  /// record of pages in use has had all the time.
  var needsSync: Bool { hasNew || areNewBeingSynced }

  /// Notes that what was written so far is about to be synced.
  mutating func beginSync() {
    areNewBeingSynced = needsSync
    hasNew = false
    for index in changes.indices { changes[index].isBeingSynced = true }
  }

  /// Notes that what was written before ``beginSync()`` is durable, and writes the other copies. One that can't be written is
  /// tried again after the next sync.
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
