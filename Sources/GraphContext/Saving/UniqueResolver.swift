import Foundation
import Predicates

/// A resolver that unifies new objects with existing ones that have their unique values, as the policies of the
/// constraints say.
///
/// Runs in the writer's turn and above the engine, after the merge with the changes that other contexts have saved. It
/// leaves a request without the unified objects, whose values and links are those of the existing objects. The engine
/// refuses objects that the resolver can't unify, as not unique.
struct UniqueResolver {
  let coordinator: StoreCoordinator
  let schema: ResolvedSchema
  let source: any StoredSource
  private let policies: UniquePolicies
  var request: SaveRequest
  /// Objects that the store has with other values than the context shows, by the entity's ordinal.
  var reverted: [Set<ObjectNumber>]
  /// Unified objects and the existing ones that they stand for, by the entity's ordinal.
  private(set) var aliases: [[ObjectNumber: ObjectNumber]]
  var unified: [UnifiedObject] = []
  /// The ends of links that lead to existing objects instead of new ones.
  var relinked: Set<ObjectKey> = []
  /// Stored objects that policies have given values, by the entity's ordinal.
  var changed: [Set<ObjectNumber>]
  /// The defaults that the models declare, once they are needed.
  var defaults: [ClassKey: DeclaredDefaults] = [:]

  struct ClassKey: Hashable {
    /// The entity's ordinal.
    let entity: Int
    let classTag: UInt16
  }

  struct UnifiedObject {
    let entity: StoredEntity
    let number: ObjectNumber
    let policy: UniquePolicy
    /// The record, which lives as long as the entity's encoder.
    var bytes: UnsafeRawBufferPointer
  }

  /// - Parameters:
  ///   - reverted: objects that the store has with other values than the context shows, as far as they are known; empty
  ///     for none.
  ///   - source: the state that the request is based on.
  init(
    _ request: SaveRequest,
    _ reverted: [Set<ObjectNumber>],
    _ policies: UniquePolicies,
    in source: any StoredSource,
    _ coordinator: StoreCoordinator
  ) {
    self.request = request
    self.policies = policies
    self.source = source
    self.coordinator = coordinator
    schema = source.schema
    self.reverted = reverted.isEmpty ? request.entities.map { _ in [] } : reverted
    aliases = request.entities.map { _ in [:] }
    changed = request.entities.map { _ in [] }
  }

  /// Unifies the new objects. O(new objects · log n) for entities with a policy, and O(changes) if any object is
  /// unified.
  mutating func resolve() throws(ContextError) {
    var entities = schema.entities.filter { !policies.unifying($0).isEmpty }
    while try findOwners(entities) {
      redirectReferences()
      // Redirecting a reference changes the keys that contain it: only entities with such keys need another pass.
      entities.removeAll { entity in
        policies.unifying(entity).allSatisfy {
          entity.declaredIndexes[$0.place].slotSet.isDisjoint(with: entity.referenceSlots)
        }
      }
    }
    if unified.isEmpty { return }
    redirectLinks()
    // Patches are kept in the order of the objects' numbers: added in that order, they move no others.
    let owners = unified.map {
      ObjectKey(entity: $0.entity.ordinal, number: owner($0.number, $0.entity.ordinal))
    }
    for index in unified.indices.sorted(by: { (owners[$0], $0) < (owners[$1], $1) }) {
      try fold(unified[index])
    }
    try forgetEqualValues()
    var rivals = PartnerRivals(request, reverted, in: source, storeID: coordinator.storeID)
    try rivals.clear()
    (request, reverted) = (rivals.request, rivals.reverted)
    for changes in request.entities { changes.updated.removeAll(where: \.slots.isEmpty) }
    request.unifiedOwners = request.entities.map { _ in [] }
    for object in unified {
      let ordinal = object.entity.ordinal
      request.unifiedOwners[ordinal].insert(owner(object.number, ordinal))
    }
  }

  /// Returns the object that another stands for, or the object itself.
  func owner(_ number: ObjectNumber, _ ordinal: Int) -> ObjectNumber {
    aliases[ordinal].owner(of: number) ?? number
  }

  // MARK: Existing objects

  /// Takes new objects out of the request that have unique values of existing ones. Returns whether there were any.
  private mutating func findOwners(_ entities: [StoredEntity]) throws(ContextError) -> Bool {
    let count = unified.count
    for entity in entities where !request.entities[entity.ordinal].inserted.isEmpty {
      let changes = request.entities[entity.ordinal]
      var owners = UniqueOwners(changes, policies.unifying(entity), source)
      try owners.claimUpdated()
      // Objects that earlier passes have unified: their owners were given values, so the owners' keys differ from those
      // of their records.
      let given = unified.filter { $0.entity.ordinal == entity.ordinal }
      for object in given {
        let owner = owner(object.number, entity.ordinal)
        if changes.insertedIndex(of: owner) == nil { give(object, to: owner, &owners) }
      }
      let givenToNew = Dictionary(grouping: given) { owner($0.number, entity.ordinal) }
      var inserted: [EntityChanges.Record] = []
      for record in changes.inserted {
        let bytes = UnsafeRawBufferPointer(record.bytes)
        guard let (owner, policy) = try owners.owner(of: bytes), entity.isKind(owner, of: record.number)
        else {
          owners.claim(bytes, for: record.number)
          for object in givenToNew[record.number] ?? [] { give(object, to: record.number, &owners) }
          inserted.append(record)
          continue
        }
        let object = UnifiedObject(entity: entity, number: record.number, policy: policy, bytes: bytes)
        give(object, to: owner, &owners)
        aliases[entity.ordinal][record.number] = owner
        unified.append(object)
      }
      if inserted.count < changes.inserted.count { changes.inserted = inserted }
    }
    return unified.count > count
  }

  /// Notes the keys that an existing object gets from a unified one.
  private mutating func give(_ object: UnifiedObject, to owner: ObjectNumber, _ owners: inout UniqueOwners) {
    let taken = values(of: RecordView(validated: object.bytes, layout: object.entity.layout), object)
    owners.give(object.bytes, to: owner, in: taken)
  }
}
