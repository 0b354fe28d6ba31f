/// Makes a store with the contents of a snapshot at a ``CopyPlace``.
///
/// The copy isn't closed before its name is durable. If the process ends between the two, the next opening
/// finds that the copy wasn't closed, and syncs the folder before the first commit: so no commit is lost with
/// the name.
struct StoreCopy {
  let snapshot: Snapshot
  let uuid: StoreUUID
  let options: StoreOptions
  let environment: StoreEnvironment

  /// The cache of the copy, and of a store that was opened only to be copied. Hardly any page is read twice,
  /// except those at the right edges of the copy's trees.
  static let cacheByteCount = 4 << 20
  /// Bytes of keys and values that are gathered for one checkpoint.
  private static let batchByteCount = 12 << 20
  /// About the bytes that an entry takes in a leaf in addition to its key and value.
  private static let entryByteCount = 12

  /// Returns false, with nothing left of the copy, if `progress` ends it.
  func run(in place: any CopyPlace, _ progress: (CopyProgress) throws -> Bool) throws -> Bool {
    let file = try place.makeFile()
    let copy: Store
    do {
      copy = try makeStore(in: file, path: place.temporaryPath)
      guard try fill(copy, progress) else {
        place.discard()
        return false
      }
      try copy.compact()
      // guard: sync-copy
      try place.synchronizeFile()
      try place.publish()
    } catch {
      place.discard()
      throw Self.known(error)
    }
    do throws(StoreError) {
      // guard: sync-name-of-copy
      try place.synchronizeFolder()
    } catch {
      throw error.ofUnsyncedFolder("the copy is complete, but a power failure may remove its name")
    }
    // Everything is durable: a copy that can't be closed is recovered when it is opened.
    try? copy.close()
    return true
  }

  /// Returns the error for a failure before the copy has its name. After a failed write it is unknown which
  /// part of a store is on the device. But a discarded copy leaves nothing there, so the outcome is known.
  private static func known(_ error: any Error) -> any Error {
    guard let error = error as? StoreError, [.outcomeUnknown, .fenced].contains(error.code),
      let cause = error.systemError
    else { return error }
    return StoreError.system(cause.call, cause.errno).adding { $0 = error.context }
  }

  private func makeStore(in file: any RandomAccessFile, path: String) throws(StoreError) -> Store {
    let origin = StoreOrigin(uuid: uuid, commit: snapshot.commit, timestamp: snapshot.timestamp)
    try StoreCreation(
      file: StoreFile(file, path: path),
      options: options,
      environment: environment,
      origin: origin
    ).run()
    return try Store.open(file: file, path: path, options: options, environment: environment)
  }

  // MARK: Entries

  /// Where the next batch begins.
  private struct Position {
    /// The tree, in order of names.
    var tree = 0
    /// The last key of the tree that was copied; nil at the tree's start.
    var key: [UInt8]?
  }

  /// Copies every entry; false if `progress` ends it.
  private func fill(_ copy: Store, _ progress: (CopyProgress) throws -> Bool) throws -> Bool {
    let names = try snapshot.treeNames
    var total = 0
    for name in names { total += try snapshot.tree(name).count }
    var state = CopyProgress(copiedEntries: 0, totalEntries: total, copiedBytes: 0)
    var position = Position()
    while position.tree < names.count {
      try copy.withWriterLock { () throws(StoreError) in
        try copy.committer.load { (transaction) throws(StoreError) in
          try copyBatch(from: &position, of: names, into: &transaction, &state)
        }
      }
      guard try progress(state) else { return false }
    }
    return true
  }

  /// Copies entries, of one tree after another, until there are enough for a checkpoint.
  private func copyBatch(
    from position: inout Position,
    of names: [String],
    into transaction: inout WriteTransaction,
    _ state: inout CopyProgress
  ) throws(StoreError) {
    var room = Self.batchByteCount
    while position.tree < names.count {
      let source = try snapshot.tree(names[position.tree])
      let target = try transaction.tree(names[position.tree])
      let start: KeyRange = position.key.map { KeyRange(lower: .excluding($0)) } ?? .all
      var cursor = source.cursor(in: start)
      var lastKey: [UInt8] = []
      state.copiedEntries += try target.append { (take) throws(StoreError) in
        guard room > 0, try cursor.next() else { return false }
        let (key, value) = (try cursor.key(), try cursor.value())
        try take(key, value)
        state.copiedBytes += UInt64(key.count + value.count)
        room -= Self.entryByteCount + key.count + value.count
        if room <= 0 { lastKey = [UInt8](key) }
        return true
      }
      if room <= 0 {
        position.key = lastKey
        return
      }
      position = Position(tree: position.tree + 1)
    }
  }
}

extension StoreError {
  /// Returns the error for a folder that can't be synced after a name in it has changed.
  func ofUnsyncedFolder(_ state: String) -> StoreError {
    StoreError(
      .outcomeUnknown,
      "\(state): \(message)",
      context: context,
      systemError: systemError
    )
  }
}

extension Committer {
  /// Commits the entries that `fill` puts into the trees as a part of the last commit, which keeps its
  /// number. This fills the copy of a store, which no other thread can see. A checkpoint writes the entries
  /// at once; nothing is logged. Called with the writer lock held.
  func load(_ fill: (inout WriteTransaction) throws(StoreError) -> Void) throws(StoreError) {
    try log.checkFence()
    let base = versions.latest
    let state = TransactionState(
      base: base,
      pool: pool,
      log: TransactionLog(isKept: false),
      stampingPages: base.commit
    )
    var transaction = WriteTransaction(state)
    do throws(StoreError) {
      try fill(&transaction)
      try state.checkIntact()
      _ = try checkpoint(including: state, timestamp: base.timestamp)
    } catch {
      abort(state)
      throw error
    }
  }
}
