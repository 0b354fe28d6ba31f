import Predicates

/// A to-one relationship that the store lacks, and whose inverse has links there.
struct NewInverse: Hashable {
  let entity: EntityNumber
  let property: PropertyNumber
  /// The tree of the links.
  let links: String
  /// True if a pair of the tree has the entity's object last.
  let isExchanged: Bool
  let isRequired: Bool
}

extension SchemaChange {
  func hasNewInverse(_ entity: EntityNumber) -> Bool { newInverses.contains { $0.entity == entity } }

  /// Adds steps that copy the records of entities with new inverses to separate trees, in which each object gets
  /// its destination.
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
