import Predicates

/// Links that other contexts have made to objects which a save deletes.
///
/// The saving context has applied its delete rules to what its snapshot has. The engine applies them to the rest, so objects change that neither side has shown that way.
struct LateLinks {
  private let request: SaveRequest
  private let newest: any ObjectSource
  private let schema: StoredSchema
  /// Objects that rules delete because others have linked them, by the entity's ordinal.
  private var condemned: [Set<ObjectNumber>]
  private var queue: [ObjectKey] = []
  /// The objects that stay, and lose a link.
  private(set) var losers: Set<ObjectKey> = []

  /// - Parameter newest: the state that the request is to change.
  init(_ request: SaveRequest, in newest: any ObjectSource) {
    (self.request, self.newest, schema) = (request, newest, newest.schema)
    condemned = request.entities.map { _ in [] }
  }

  /// O(min(deleted, changed by others) · log *n*) for each relationship that leads to a deleted object, and O(links) of those and of what rules delete.
  mutating func find(_ foreign: ForeignChanges) throws(ContextError) {
    guard request.deletesObjects else { return }
    for changes in request.entities where !changes.deleted.isEmpty {
      for incoming in changes.entity.incoming { try findReferrers(by: incoming, to: changes, foreign) }
    }
    foreign.forEachAddedLink(in: schema) { link, toMany, source in noteLink(link, toMany, source) }
    while let key = queue.popLast() { try release(key) }
    losers = losers.filter { !isDeleted($0) }
  }

  private func isDeleted(_ key: ObjectKey) -> Bool {
    condemned[key.entity].contains(key.number) || request.entities[key.entity].deletes(key.number)
  }

  private mutating func findReferrers(
    by incoming: IncomingToOne,
    to changes: EntityChanges,
    _ foreign: ForeignChanges
  ) throws(ContextError) {
    let source = schema.entities[incoming.source]
    let changedCount = foreign.keptCount(of: source.number)
    if changedCount == 0 { return }
    if changedCount > changes.deleted.count {
      for number in changes.deleted { try findReferrers(by: incoming, to: number) }
      return
    }
    for number in foreign.objects(of: source.number, thatGet: incoming.toOne.slot) {
      let target = try newest.reference(at: incoming.toOne.slot, of: number, source)
      if !target.isNone, changes.deletes(target) { apply(incoming, to: number) }
    }
  }

  private mutating func findReferrers(
    by incoming: IncomingToOne,
    to number: ObjectNumber
  ) throws(ContextError) {
    for number in try newest.elements(of: number, in: incoming.toOne.links) { apply(incoming, to: number) }
  }

  /// Applies the rules of a many-to-many relationship to the ends of a link.
  private mutating func noteLink(_ link: ChangeSet.Link, _ toMany: StoredToMany, _ source: StoredEntity) {
    guard case .pairs(let trees) = toMany.storage else { return }
    let owner = ObjectKey(entity: source.ordinal, number: link.owner)
    let element = ObjectKey(entity: toMany.destination, number: link.element)
    let back = trees.inverse.map { schema.entities[element.entity].toManys[$0].deleteRule }
    if isDeleted(owner) { apply(toMany.deleteRule, to: element) }
    if isDeleted(element) { apply(back ?? .nullify, to: owner) }
  }

  /// Applies the rules of an object that a rule deletes.
  private mutating func release(_ key: ObjectKey) throws(ContextError) {
    let entity = schema.entities[key.entity]
    for incoming in entity.incoming { try findReferrers(by: incoming, to: key.number) }
    for toMany in entity.toManys {
      guard case .pairs = toMany.storage else { continue }
      for number in try newest.elements(of: key.number, in: toMany.links) {
        apply(toMany.deleteRule, to: ObjectKey(entity: toMany.destination, number: number))
      }
    }
  }

  /// Applies a rule to an object whose reference leads to a deleted one, unless this save sets the reference.
  private mutating func apply(_ incoming: IncomingToOne, to number: ObjectNumber) {
    let changes = request.entities[incoming.source]
    let bit: UInt64 = 1 << UInt64(incoming.toOne.slot)
    if let index = changes.patchIndex(of: number), changes.updated[index].slots & bit != 0 { return }
    apply(incoming.rule, to: ObjectKey(entity: incoming.source, number: number))
  }

  private mutating func apply(_ rule: DeleteRule, to key: ObjectKey) {
    switch rule {
    case .nullify: losers.insert(key)
    case .cascade:
      if !isDeleted(key), condemned[key.entity].insert(key.number).inserted { queue.append(key) }
    // The engine refuses the save.
    case .deny: break
    }
  }
}
