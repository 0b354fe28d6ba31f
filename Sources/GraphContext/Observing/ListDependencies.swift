import Predicates

/// The objects that decide which objects a list has and in which order, beyond those objects themselves.
struct ListDependencies {
  /// Steps through to-one relationships that the list's paths begin with.
  private var paths: [[ResolvedPath.Hop]: Path] = [:]
  /// Entities that a path leads to by way of a to-many relationship: which objects of the list are concerned isn't looked for.
  private var collections: Set<EntityID> = []

  private struct Path {
    let destination: EntityID
    /// Bits of the slots that are read at the end of the steps.
    var slots: UInt64
  }

  init(_ query: ResolvedQuery, section: ResolvedPath?) {
    query.predicate.forEachPath { note($0) }
    for key in query.sort { note(key.path) }
    if let section { note(section) }
    query.predicate.forEachCollection { collection in
      for case let (_, destination)? in collection.steps.map(\.objects) { collections.insert(destination) }
    }
  }

  private mutating func note(_ path: ResolvedPath) {
    guard path.scope == 0 else { return collections.formUnion(path.hops.map(\.destination)) }
    for (place, hop) in path.hops.enumerated() {
      let isLast = place + 1 == path.hops.count
      let slot: Int? =
        if !isLast { path.hops[place + 1].slot } else if case .slot(let slot, _) = path.leaf { slot } else {
          nil
        }
      let hops = Array(path.hops[...place])
      paths[hops, default: Path(destination: hop.destination, slots: 0)].slots |=
        slot.map { 1 << UInt64($0) } ?? 0
    }
  }

  /// Whether other objects matter at all.
  var isEmpty: Bool { paths.isEmpty && collections.isEmpty }

  /// Whether a change may concern objects of the list that can't be told.
  func isVague(_ changes: ObjectChanges, _ schema: StoredSchema) -> Bool {
    if collections.isEmpty { return false }
    func isConcerned(_ id: ManagedObjectID) -> Bool {
      schema.entity(id.entity).map { collections.contains($0.id) } ?? true
    }
    return [changes.inserted, changes.updated, changes.deleted, changes.refreshed].contains { ids in
      ids.contains(where: isConcerned)
    }
  }

  /// Conditions that objects of the list meet whose paths lead through a changed object.
  func conditions(_ changes: ObjectChanges, _ schema: StoredSchema) -> [NormalPredicate] {
    paths.compactMap { hops, path in
      let entity = schema[path.destination]
      let names = Set(entity.names(of: path.slots))
      // An object that has come or gone may be one that others already lead to, or still do.
      let all = [changes.updated, changes.refreshed, changes.inserted, changes.deleted].joined()
      let changed = all.filter { id in
        guard schema.entity(id.entity)?.id == path.destination else { return false }
        return changes.changedProperties[id].map { !names.isDisjoint(with: $0) } ?? true
      }
      guard let last = hops.last, !changed.isEmpty else { return nil }
      let reference = ResolvedPath(
        hops: Array(hops.dropLast()),
        leaf: .slot(last.slot, .reference),
        isOptional: true,
        name: "reference"
      )
      return .values(reference, ValueSet(.reference, anyOf: changed.map { .reference($0.number) }))
    }
  }
}
