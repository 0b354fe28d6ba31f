import Predicates

// Records that get values computed from the data in the store: values of new inverses, and derived values.

extension SchemaChange {
  /// The properties whose values are known only when the change has been carried out.
  var filledProperties: Set<PropertyNumber> {
    let derived = derivedAnew.compactMap(target.entity).flatMap(\.properties).filter { $0.derivation != nil }
    return Set(newInverses.map(\.property) + derived.map(\.number))
  }

  /// Adds steps that copy records to separate trees, unless they are copied already, and then the given steps,
  /// which fill the records.
  mutating func fillRecords(of entities: Set<EntityNumber>, by steps: [MigrationStep]) {
    if steps.isEmpty { return }
    let known = Set(old.entities.flatMap(\.trees))
    var copies: [MigrationStep] = []
    for place in target.entities.indices {
      let entity = target.entities[place]
      guard entities.contains(entity.number), known.contains(entity.tree) else { continue }
      target.entities[place].tree = target.takeTree(.records)
      copies.append(.records(entity: entity.number, from: entity.tree))
    }
    // The steps read links and records, and indexes are built from the filled records.
    let (last, first) = (work.filter(\.readsWholeRecords), work.filter { !$0.readsWholeRecords })
    work = first + copies + steps + last
    noteDroppedTrees()
  }
}

extension MigrationStep {
  /// True for a step that must run after the records have all their values.
  fileprivate var readsWholeRecords: Bool {
    switch self {
    case .index, .pass: true
    default: false
    }
  }
}
