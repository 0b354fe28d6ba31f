import PageStore
import Predicates

/// Brings a store to another schema in one transaction: the catalogue, and what ``SchemaChange/work`` asks for.
struct SchemaAdoption {
  let change: SchemaChange
  /// The schema that the store gets.
  let schema: StoredSchema
  /// Whether folded indexes that are there already have to be made again.
  let isRefolding: Bool

  /// Whether nothing has to be written.
  func isDone(in snapshot: Snapshot) throws(ContextError) -> Bool {
    guard change.isEmpty, !isRefolding, !change.target.entities.isEmpty else { return false }
    return try !SchemaTree.isOfEarlierFormat(snapshot)
  }

  func run(_ store: Store, from snapshot: Snapshot) throws {
    let isEarlier = try SchemaTree.isOfEarlierFormat(snapshot)
    let leases = try isEarlier ? earlierLeases(in: snapshot) : []
    try store.write { transaction in
      for work in change.work { try perform(work, &transaction) }
      if isRefolding { try refold(&transaction) }
      for tree in change.droppedTrees where try transaction.treeIfPresent(tree) != nil {
        try transaction.dropTree(tree)
      }
      try SchemaTree.store(change.target, replacing: isEarlier ? nil : change.old, in: &transaction)
      try rename(leases, &transaction)
    }
  }

  private func perform(_ work: SchemaChange.Work, _ transaction: inout WriteTransaction) throws {
    switch work {
    case .index(let entity, let index):
      guard let entity = schema.entity(entity), let index = schema.index(index, of: entity) else { return }
      try IndexBuilder(entity, index).build(&transaction)
    case .exchangedPairs(let source, let tree):
      try PairsBuilder(from: source, to: tree).build(&transaction)
    }
  }

  private func refold(_ transaction: inout WriteTransaction) throws {
    for entity in schema.entities {
      for index in entity.declaredIndexes where index.isFolded {
        let name = entity.treeName(of: index.id)
        if try transaction.treeIfPresent(name) != nil { try transaction.dropTree(name) }
        try IndexBuilder(entity, index).build(&transaction)
      }
    }
  }

  // MARK: Leases of earlier formats

  private func earlierLeases(in snapshot: Snapshot) throws -> [(EntityNumber, String, UInt64)] {
    let stored = try StoredSchema(change.old)
    let leased = try SchemaTree.leasedNumbers(in: snapshot, stored)
    return zip(stored.entities, leased).map { ($0.number, $0.name, $1) }
  }

  private func rename(
    _ leases: [(EntityNumber, String, UInt64)],
    _ transaction: inout WriteTransaction
  ) throws {
    let tree = try transaction.tree(SchemaTree.name)
    for (number, name, end) in leases {
      _ = try tree.remove(SchemaEntries.earlierNumbersKey(name))
      guard end > 0, change.target.entity(number) != nil else { continue }
      try tree.put(SchemaTree.numbersKey(number), SchemaTree.bytes(end))
    }
  }
}

/// Makes the tree of an index over records that are there already.
struct IndexBuilder {
  private let entity: StoredEntity
  private let index: ResolvedIndex

  init(_ entity: StoredEntity, _ index: ResolvedIndex) {
    self.entity = entity
    self.index = index
  }

  func build(_ transaction: inout WriteTransaction) throws {
    guard let records = try transaction.treeIfPresent(entity.treeName) else { return }
    var batch = KeyBatch()
    var key: [UInt8] = []
    let reader = RecordReader(entity)
    var cursor = try records.cursor()
    while try cursor.next() {
      let number = KeyCoder.objectID(ending: try cursor.key()) ?? .none
      guard let record = reader.view(try cursor.value()) else { throw StoreView.damaged(number, of: entity) }
      key.removeAll(keepingCapacity: true)
      _ = index.appendKey(of: record, number, to: &key)
      batch.append(key)
    }
    batch.sort()
    try transaction.tree(entity.treeName(of: index.id)).put(batch)
  }
}

/// Makes a tree of pairs out of another one, with the halves exchanged.
struct PairsBuilder {
  private let source: String
  private let target: String

  init(from source: String, to target: String) {
    self.source = source
    self.target = target
  }

  func build(_ transaction: inout WriteTransaction) throws {
    guard let pairs = try transaction.treeIfPresent(source) else { return }
    var batch = KeyBatch()
    var cursor = try pairs.cursor()
    while try cursor.next() {
      let key = try cursor.key()
      let half = KeyCoder.objectIDByteCount
      guard key.count == 2 * half else { throw SchemaTree.damaged("a pair in \(source)") }
      batch.append([UInt8](key[half...]) + key[..<half])
    }
    batch.sort()
    try transaction.tree(target).put(batch)
  }
}
