/// The state that the handles of one write transaction share. Used by the thread that holds the writer lock,
/// or by the one that opens the store, to replay its log.
final class TransactionState {
  /// The number that the transaction gets when it is committed, with which its pages are stamped. It may be
  /// that of its base.
  let commit: UInt64
  /// The version on which the transaction builds.
  let base: Version
  let dirty: DirtySet
  // Safety: one thread uses the transaction, and the methods of the log call nothing that uses it again. Each
  // put changes it, and a check at run time takes a thirtieth of the time of a sorted load.
  @exclusivity(unchecked) var log: TransactionLog

  private(set) var directory: TreeDirectory
  private(set) var nextTreeID: UInt32
  /// The attachment of the commit, which its readers can get.
  var attachment: (any Sendable)?
  /// True if the transaction carries out a deletion: ``WriteTransaction/markAsDeletion()``.
  var isDeletion = false
  /// The editors of trees, by slot. They are made when a tree is first used.
  private var editors: [TreeEditor?]
  private var isEnded = false
  /// Writes pages of the transaction to the file when it takes more memory than ``DirtySet/byteLimit``; nil
  /// if all of them stay in memory until its end.
  private let committer: Committer?

  /// The longest name of a tree.
  static let nameByteLimit = 1_024

  /// - Parameters:
  ///   - stamp: the commit with which its pages are stamped; nil for its own.
  ///   - committer: writes pages to the file before the transaction ends; nil if none may be.
  init(
    base: Version,
    pool: PagePool,
    log: consuming TransactionLog,
    stampingPages stamp: UInt64? = nil,
    writingEarlyTo committer: Committer? = nil
  ) {
    self.base = base
    self.committer = committer
    self.log = log
    commit = stamp ?? base.commit + 1
    dirty = DirtySet(commit: commit, pool: pool, isCommitTaken: stamp == base.commit)
    directory = base.directory
    nextTreeID = base.nextTreeID
    // Unlike `Array(repeating:)` this is specialised.
    editors = base.roots.map { _ in nil }
  }

  /// The link of the commit in the list of commits.
  var link: CommitLink { CommitLink(commit, attachment: attachment) }

  func checkUsable() throws(StoreError) {
    if isEnded { throw StoreError(.transactionEnded, "the write transaction is over") }
  }

  /// Ends the transaction: every handle throws from now on.
  func end() {
    isEnded = true
    for editor in editors { editor?.end() }
  }

  // MARK: Trees

  func slot(of name: String) throws(StoreError) -> Int? {
    try checkUsable()
    return directory.slot(of: name)
  }

  func editor(_ slot: Int) throws(StoreError) -> TreeEditor {
    try checkUsable()
    if let editor = editors[slot] { return editor }
    guard directory.names[slot] != nil else {
      throw StoreError(.noSuchTree, "the tree was dropped in this transaction")
    }
    let editor = TreeEditor(root: base.roots[slot], dirty: dirty)
    editors[slot] = editor
    return editor
  }

  func createTree(_ name: String) throws(StoreError) -> Int {
    guard !name.isEmpty, name.utf8.count <= Self.nameByteLimit else {
      throw StoreError(
        .invalidTreeName,
        "a tree's name must have 1 to \(Self.nameByteLimit) bytes",
        context: .init(tree: name)
      )
    }
    // Numbers aren't reused, and the last one is kept free, so that the number of the next tree can always be
    // recorded.
    guard nextTreeID < .max else {
      throw StoreError(.tooManyTrees, "the store has no number left for a tree", context: .init(tree: name))
    }
    return add(name, treeID: nextTreeID)
  }

  /// Creates a tree with a given number, as in the replay of a log.
  func add(_ name: String, treeID: UInt32) -> Int {
    let slot = directory.add(name)
    let editor = TreeEditor(root: .empty(treeID: treeID), dirty: dirty)
    if slot == editors.count { editors.append(editor) } else { editors[slot] = editor }
    nextTreeID = max(nextTreeID, treeID + 1)
    var name = name
    name.withUTF8 { log.note(.createTree(id: treeID, name: UnsafeRawBufferPointer($0))) }
    return slot
  }

  func dropTree(_ slot: Int) throws(StoreError) {
    let editor = try editor(slot)
    try editor.removeRange(.all)
    // Handles of the dropped tree must not log any more changes.
    editor.end()
    editors[slot] = nil
    directory.remove(slot: slot)
    log.note(.dropTree(id: editor.root.treeID))
  }

  // MARK: The outcome

  /// The roots of the trees after the transaction, by slot.
  var roots: [TreeRoot] { editors.indices.map(root) }

  private func root(_ slot: Int) -> TreeRoot {
    if let editor = editors[slot] { return editor.root }
    // A dropped tree's old root must not be reachable any more.
    let isUntouched = slot < base.roots.count && directory.names[slot] != nil
    return isUntouched ? base.roots[slot] : .empty(treeID: 0)
  }

  /// The share of the room for transactions that remove which this one leaves to others.
  var reserveShare: ReserveShare {
    if !log.hasAdditions { return .none }
    return isDeletion && log.hasRemovals && !addsEntries ? .half : .whole
  }

  /// True if the store has more entries after the transaction than before.
  private var addsEntries: Bool {
    let countAfter = editors.indices.reduce(0) { $0 &+ root($1).count }
    return countAfter > base.roots.reduce(0) { $0 &+ $1.count }
  }

  /// Throws if a change has failed half-way: such a transaction can only be abandoned, even if its closure
  /// continued.
  func checkIntact() throws(StoreError) {
    guard editors.allSatisfy({ $0?.isIntact ?? true }) else {
      throw StoreError(.transactionEnded, "a change failed half-way; the transaction was abandoned")
    }
  }
}

extension TransactionState: ChangeRecorder {
  func recordPut(
    treeID: UInt32,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    log.notePut(key, value, tree: treeID)
  }

  func recordRemove(treeID: UInt32, key: UnsafeRawBufferPointer) throws(StoreError) {
    log.noteRemoval(.remove(key: key), tree: treeID)
  }

  func recordRemoveRange(treeID: UInt32, range: KeyRange) throws(StoreError) {
    log.noteRemoval(.removeRange(range), tree: treeID)
  }

  /// Writes pages to the file, so that their memory can be used again. If that fails, the transaction can
  /// only be abandoned.
  func writeEarly() throws(StoreError) {
    guard let committer else { return }
    do throws(StoreError) {
      try committer.writeEarly(self, editors.compactMap(\.self))
    } catch {
      end()
      throw error
    }
  }
}

extension TreeRoot {
  /// Returns a tree without entries.
  static func empty(treeID: UInt32) -> TreeRoot {
    TreeRoot(
      treeID: treeID,
      height: 0,
      reference: ChildReference(location: .none, checksum: 0, birth: 0, count: 0)
    )
  }
}
