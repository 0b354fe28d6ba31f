import Predicates

/// The bounds that models declare for the counts of to-many relationships, by the tree that has a relationship's links.
struct CountRules: Sendable {
  struct Rule: Sendable {
    /// Ordinal of the entity that has the relationship, and the relationship's position there.
    let entity: Int
    let position: Int
    let minimum: Int
    let maximum: Int?

    func isKept(by count: Int) -> Bool { count >= minimum && maximum.map { count <= $0 } ?? true }

    /// The rule, as the end of a sentence.
    var text: String {
      guard let maximum else { return "must have at least \(minimum)" }
      return minimum == 0 ? "must have at most \(maximum)" : "must have \(minimum) to \(maximum)"
    }
  }

  private(set) var byTree: [String: Rule] = [:]

  var isEmpty: Bool { byTree.isEmpty }

  /// - Parameter models: model of each entity, by ordinal.
  init(_ schema: ResolvedSchema, _ models: [ModelDescription]) {
    for (entity, model) in zip(schema.entities, models) {
      for toMany in entity.toManys {
        guard let relationship = model.entity.relationships.first(where: { $0.name == toMany.name }),
          relationship.minimumCount > 0 || relationship.maximumCount != nil
        else { continue }
        byTree[toMany.links.treeName] = Rule(
          entity: entity.ordinal,
          position: toMany.ordinal,
          minimum: relationship.minimumCount,
          maximum: relationship.maximumCount
        )
      }
    }
  }

  init() {}
}

/// The objects whose to-many relationships a save has changed, as far as there are rules for their counts.
struct CountedOwners {
  let rules: CountRules
  private(set) var owners: [String: Set<ObjectNumber>] = [:]

  init(_ rules: CountRules) { self.rules = rules }

  /// Notes that a link from an object was added or removed.
  mutating func note(_ owner: ObjectNumber, in treeName: String) {
    if rules.isEmpty || owner.isNone || rules.byTree[treeName] == nil { return }
    owners[treeName, default: []].insert(owner)
  }

  /// Notes new objects, which may have no links at all.
  mutating func note(_ inserted: [EntityChanges.Record], of entity: StoredEntity) {
    if rules.isEmpty { return }
    for toMany in entity.toManys where rules.byTree[toMany.links.treeName]?.minimum ?? 0 > 0 {
      owners[toMany.links.treeName, default: []].formUnion(
        inserted.lazy.map(\.number).filter { entity.has(toMany, $0) }
      )
    }
  }
}
