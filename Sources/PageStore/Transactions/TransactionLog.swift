/// The log record of a transaction, which grows with its changes.
struct TransactionLog {
  /// The record's bytes, which begin with room for the header.
  private(set) var record: [UInt8]
  /// True if the transaction, or one of its values, is too long for a record. The transaction then has to be
  /// written as a checkpoint.
  private(set) var isTooLarge = false
  private(set) var isEmpty = true
  /// True if a tree was created or a value stored.
  private(set) var hasAdditions = false
  /// True if a tree was dropped or an entry removed.
  private(set) var hasRemovals = false
  private var selectedTree: UInt32?

  /// Begins a record in a buffer that may have been used before.
  ///
  /// - Parameter isKept: false if no record is needed, because the transaction will be written as a
  ///   checkpoint.
  init(reusing buffer: consuming [UInt8] = [], isKept: Bool = true) {
    record = buffer
    isTooLarge = !isKept
    record.removeAll(keepingCapacity: true)
    record.append(contentsOf: repeatElement(0, count: LogRecordHeader.encodedByteCount))
  }

  /// Notes a change of the set of trees.
  mutating func note(_ operation: LogOperation) {
    isEmpty = false
    if case .createTree = operation { hasAdditions = true } else { hasRemovals = true }
    guard !isTooLarge else { return }
    operation.append(to: &record)
    checkLength()
  }

  /// Notes the removal of entries of a tree.
  mutating func noteRemoval(_ operation: LogOperation, tree: UInt32) {
    hasRemovals = true
    note(operation, tree: tree)
  }

  private mutating func note(_ operation: LogOperation, tree: UInt32) {
    isEmpty = false
    guard !isTooLarge else { return }
    select(tree)
    operation.append(to: &record)
    checkLength()
  }

  mutating func notePut(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, tree: UInt32) {
    hasAdditions = true
    if value.count > StoreLimits.loggedValueByteCount { giveUp() }
    note(.put(key: key, value: value), tree: tree)
  }

  /// Removes and returns the record, so that it isn't copied.
  mutating func takeRecord() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &record)
    return taken
  }

  private mutating func select(_ tree: UInt32) {
    if tree == selectedTree { return }
    selectedTree = tree
    LogOperation.selectTree(id: tree).append(to: &record)
  }

  private mutating func checkLength() {
    if record.count > StoreLimits.logRecordByteCount { giveUp() }
  }

  /// Makes the transaction one that is written as a checkpoint.
  mutating func giveUp() {
    isTooLarge = true
    record = []
  }
}
