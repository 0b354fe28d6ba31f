import Foundation
import PageStore
import Predicates

/// Reads the history of one state of a store.
struct HistoryReader {
  private let tree: TreeReader
  private let schemaTree: TreeReader?
  private let newestCommit: UInt64
  private let storeID: UUID
  private let entities: [EntityNumber: CataloguedEntity]

  /// Nil for a store that keeps no history.
  init?(_ snapshot: Snapshot, _ catalogue: CataloguedSchema, _ storeID: UUID) throws {
    guard let tree = try snapshot.treeIfPresent(HistoryTree.name) else { return nil }
    self.tree = tree
    schemaTree = try snapshot.treeIfPresent(SchemaTree.name)
    self.storeID = storeID
    newestCommit = snapshot.commit
    entities = catalogue.entities.dictionary(by: \.number)
  }

  func settings() throws -> HistorySettings { try tree.historySettings() }

  /// Returns the place after the newest commit.
  func newestToken() throws -> HistoryToken { try token(newestCommit) }

  /// Returns the token of the first place from which all later transactions are still there.
  func oldestToken() throws -> HistoryToken {
    if let oldest = try tree.oldestTransaction() { return try token(oldest.header.previousCommit) }
    return try token(settings().start)
  }

  func consumers() throws -> [String: HistoryToken] {
    try tree.historyConsumers().mapValues(token)
  }

  /// - Throws: `historyExpired` for a token from which the history can't be read.
  func check(_ token: HistoryToken) throws {
    let oldest = try checkIsReached(token)
    if token < oldest {
      throw ContextError.historyExpired(
        "the token is after commit \(token.commit), and the history begins after \(oldest.commit)",
        oldest
      )
    }
  }

  /// Returns the oldest token.
  ///
  /// - Throws: `historyExpired` for a token of a place that this history has not reached: a token of another store,
  ///   or of commits that this store has lost or never had.
  @discardableResult
  func checkIsReached(_ token: HistoryToken) throws -> HistoryToken {
    let oldest = try oldestToken()
    if token.storeID != storeID {
      throw ContextError.historyExpired("the token is of the store \(token.storeID), not of this one", oldest)
    }
    if token.commit > newestCommit {
      throw ContextError.historyExpired(
        "the token is after commit \(token.commit), and the store's newest commit is \(newestCommit):"
          + " the file may be an older copy",
        oldest
      )
    }
    let mark = try mark(ofPlaceAfter: token.commit)
    // The transactions before the place may have been pruned since the token was made.
    if mark != HistoryToken.markOfNone, token.mark != 0, mark != token.mark {
      throw ContextError.historyExpired(
        "the token is after commit \(token.commit), which the store has lost: another one has its number now",
        oldest
      )
    }
    return oldest
  }

  /// Calls `body` with the transactions that a query asks for, in the query's order, until `body` returns false.
  /// O(log n + transactions that are looked at).
  func forEach(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Bool) throws {
    var query = query
    query.entities = query.entities.map(withSubclasses)
    var rest = query.limit ?? .max
    var leased: [EntityNumber: UInt64] = [:]
    if let token = query.token { try check(token) }
    let range = query.token.map { HistoryTree.transactions(after: $0.commit) } ?? HistoryTree.transactions
    var cursor = tree.cursor(in: range)
    while rest > 0, try query.newestFirst ? cursor.previous() : cursor.next() {
      let key = try cursor.key()
      guard let commit = HistoryTree.commit(key), let entry = HistoryEntry(try cursor.value(), of: commit)
      else {
        throw HistoryTree.damaged
      }
      guard query.includes(entry.header.date, entry.author) else { continue }
      try checkInsertions(of: entry, &leased)
      guard let part = query.part(of: transaction(entry, commit)) else { continue }
      if try !body(part) { return }
      rest -= 1
    }
  }

  /// Checks that the store has given the numbers of the inserted objects. Otherwise a few damaged bytes could claim any
  /// number of objects, each of which takes memory.
  ///
  /// - Parameter leased: the ends of the leases that were looked up before.
  /// - Throws: `corrupt`.
  private func checkInsertions(of entry: HistoryEntry, _ leased: inout [EntityNumber: UInt64]) throws {
    for objects in entry.objects where entities[objects.entity] != nil && !objects.inserted.isEmpty {
      let end = try leased[objects.entity] ?? leaseEnd(of: objects.entity)
      leased[objects.entity] = end
      guard objects.hasInserted(below: end) else { throw HistoryTree.damaged }
    }
  }

  /// Returns the first sequence that was not leased of an entity.
  private func leaseEnd(of entity: EntityNumber) throws -> UInt64 {
    SchemaTree.number(try schemaTree?.value(for: SchemaTree.numbersKey(entity)))
  }

  /// Returns the names of entities and classes, with those of the classes below them.
  private func withSubclasses(_ names: Set<String>) -> Set<String> {
    var all = names
    for entity in entities.values {
      // A class comes after the one that it inherits from.
      for member in entity.classes {
        let superclass = member.parent.map { entity.classes[Int($0)].name }
        if superclass.map(all.contains) ?? false { all.insert(member.name) }
      }
    }
    return all
  }

  /// O(log n).
  private func token(_ commit: UInt64) throws -> HistoryToken {
    HistoryToken(storeID: storeID, commit: commit, mark: try mark(ofPlaceAfter: commit))
  }

  /// Returns the mark of a place, by the last transaction before it.
  private func mark(ofPlaceAfter commit: UInt64) throws -> UInt64 {
    try tree.lastTransaction(through: commit)?.header.mark ?? HistoryToken.markOfNone
  }

  private func transaction(_ entry: HistoryEntry, _ commit: UInt64) -> HistoryTransaction {
    HistoryTransaction(
      token: HistoryToken(storeID: storeID, commit: commit, mark: entry.header.mark),
      date: entry.header.date,
      author: entry.author,
      contextName: entry.contextName,
      changes: HistoryChanges(entry, entities, storeID).changes
    )
  }
}

/// The changes of one entry, by objects and with the names of the schema.
private struct HistoryChanges {
  private struct Key: Hashable {
    let entity: EntityNumber
    let number: ObjectNumber
  }
  private let entities: [EntityNumber: CataloguedEntity]
  private let storeID: UUID
  private var known: [Key: HistoryChange] = [:]

  init(_ entry: HistoryEntry, _ entities: [EntityNumber: CataloguedEntity], _ storeID: UUID) {
    self.entities = entities
    self.storeID = storeID
    for objects in entry.objects {
      if let entity = entities[objects.entity] { note(objects, entity) }
    }
    for links in entry.links { note(links) }
    for key in known.keys { known[key]?.properties.sort() }
  }

  /// The changes, ordered by entity and number.
  var changes: [HistoryChange] {
    known.values.sorted {
      ($0.objectID.entityName, $0.objectID.number) < ($1.objectID.entityName, $1.objectID.number)
    }
  }

  private mutating func note(_ objects: HistoryEntry.Objects, _ entity: CataloguedEntity) {
    for number in objects.inserted.joined() {
      change(ObjectNumber(rawValue: number), entity, .inserted)
    }
    for update in objects.updated {
      let names = Set(update.properties.compactMap { entity.declaredName(of: $0) }).sorted()
      for number in update.numbers { change(number, entity, .updated, names) }
    }
    for deletion in objects.deleted {
      change(deletion.number, entity, .deleted)
      for tombstone in deletion.tombstones {
        guard let name = entity.property(tombstone.property)?.name else { continue }
        known[Key(entity: entity.number, number: deletion.number)]?.tombstone[name] = tombstone.value
      }
    }
  }

  /// Notes the links of a many-to-many relationship at both ends, except at an end that is a hidden inverse.
  private mutating func note(_ links: HistoryEntry.Links) {
    guard let entity = entities[links.relationship.entity],
      let property = entity.property(links.relationship.property), let relationship = property.relationship
    else { return }
    if !property.isHiddenInverse {
      for owner in links.owners { change(owner, entity, .updated, [property.name]) }
    }
    guard let destination = entities[relationship.destination],
      let inverse = relationship.inverse.flatMap({ destination.property($0) }), !inverse.isHiddenInverse
    else { return }
    for element in links.elements { change(element, destination, .updated, [inverse.name]) }
  }

  /// Notes a change of an object. An inserted or deleted object has no changed properties.
  private mutating func change(
    _ number: ObjectNumber,
    _ entity: CataloguedEntity,
    _ kind: HistoryChange.Kind,
    _ properties: [String] = []
  ) {
    let key = Key(entity: entity.number, number: number)
    if let change = known[key] {
      if change.kind == .updated {
        known[key]?.properties += properties.filter { !change.properties.contains($0) }
      }
      return
    }
    let id = ManagedObjectID(entity: .known(entity.identity(of: number)), number: number, storeID: storeID)
    known[key] = HistoryChange(objectID: id, kind: kind, properties: properties)
  }
}
