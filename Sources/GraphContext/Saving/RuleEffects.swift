import Predicates

/// The changes that the delete rules of a save make beyond its request. They are known before anything is stored.
///
/// The saving context has applied its delete rules to the objects that it shows. The engine applies them to the links
/// that other contexts have made since, and to links in commits that the context moved over after its deletion. So some
/// objects change in a way that neither side has validated.
struct RuleEffects {
  /// The effect of the rules on one object.
  struct Effect: Hashable {
    var isDeleted = false
    /// The slots of the references that are set to nil.
    var slots = SlotSet.empty
    /// The other ends of many-to-many links that are removed.
    var lost: Set<ObjectKey> = []
  }
  private(set) var effects: [ObjectKey: Effect] = [:]

  /// Makes the effects of the rules. O(changes by rules + removed links).
  ///
  /// - Parameter links: all that the save changes, those of the request among them.
  init(
    _ rules: RuleChanges,
    _ links: [ChangeSet.Relationship: ChangeSet.Links],
    beyond request: SaveRequest,
    in schema: ResolvedSchema
  ) {
    for (number, objects) in rules.objects {
      guard let entity = schema.entity(number) else { continue }
      for number in objects.deleted {
        effects[ObjectKey(entity: entity.ordinal, number: number)] = Effect(isDeleted: true)
      }
      for (number, slots) in objects.updated where !objects.deleted.contains(number) {
        effects[ObjectKey(entity: entity.ordinal, number: number), default: Effect()].slots = slots
      }
    }
    for (relationship, links) in links where !links.removed.isEmpty {
      guard let source = schema.entity(relationship.entity) else { continue }
      for toMany in source.toManys {
        guard case .pairs(let trees) = toMany.storage, trees.relationship == relationship else { continue }
        for link in links.removed where !request.removes(link, in: trees) {
          note(link, toMany, source, hasInverse: trees.inverse != nil, request)
        }
      }
    }
  }

  /// Notes a removed link at those of its ends that programs see and that stay.
  private mutating func note(
    _ link: ChangeSet.Link,
    _ toMany: StoredToMany,
    _ source: StoredEntity,
    hasInverse: Bool,
    _ request: SaveRequest
  ) {
    let owner = ObjectKey(entity: source.ordinal, number: link.owner)
    let element = ObjectKey(entity: toMany.destination, number: link.element)
    func note(_ key: ObjectKey, loses other: ObjectKey) {
      if effects[key]?.isDeleted == true || request.entities[key.entity].deletes(key.number) { return }
      effects[key, default: Effect()].lost.insert(other)
    }
    if !toMany.isHidden { note(owner, loses: element) }
    if hasInverse, !toMany.hasHiddenInverse { note(element, loses: owner) }
  }
}

extension SaveRequest {
  /// Returns true if the request removes the link: the saving context knows of it.
  fileprivate func removes(_ link: ChangeSet.Link, in trees: PairTrees) -> Bool {
    pairs.contains { pairs in
      switch pairs.trees.forward {
      case trees.forward: pairs.links.removed[link.owner]?.contains(link.element) == true
      case trees.backward: pairs.links.removed[link.element]?.contains(link.owner) == true
      default: false
      }
    }
  }
}
