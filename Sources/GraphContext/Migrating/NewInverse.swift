import Predicates

/// A to-one relationship that the store lacks, and whose inverse has links there.
struct NewInverse: Hashable {
  let entity: EntityNumber
  let property: PropertyNumber
  /// The tree of the links.
  let links: String
  /// Whether a pair of the tree has the entity's object last.
  let isExchanged: Bool
  let isRequired: Bool
}

extension SchemaChange {
  func hasNewInverse(_ entity: EntityNumber) -> Bool { newInverses.contains { $0.entity == entity } }

  /// Has the records of entities with new inverses copied into trees of their own, where each object gets its destination.
  mutating func fillNewInverses() {
    let steps = newInverses.map { inverse in
      MigrationStep.inverse(
        entity: inverse.entity,
        inverse.property,
        links: inverse.links,
        isExchanged: inverse.isExchanged
      )
    }
    fillRecords(of: Set(newInverses.map(\.entity)), by: steps)
  }
}
