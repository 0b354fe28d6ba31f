import Predicates

/// The objects that decide which objects a list has and in which order, beyond those objects themselves.
struct ListDependencies {
  /// Steps through to-one relationships that the list's paths begin with.
  private var paths: [[ResolvedPath.Hop]: Path] = [:]
  /// Entities that a path leads to through a to-many relationship. The list doesn't look for the objects that are
  /// concerned by a change of these.
  private var collections: Set<EntityID> = []
  /// To-many relationships of other objects than those of the list. Where one has no inverse, its links are changes of
  /// its owner alone.
  private var links: Set<ToManyID> = []

  private struct Path {
    let destination: EntityID
    /// The slots that are read at the end of the steps.
    var slots: SlotSet
  }

  init(_ query: ResolvedQuery, section: ResolvedPath?) {
    query.predicate.forEachPath { note($0) }
    for key in query.sort { note(key.path) }
    if let section { note(section) }
    query.predicate.forEachCollection { collection in
      for step in collection.steps {
        guard let (relationship, destination) = step.objects else { continue }
        collections.insert(destination)
        if !step.owner.isOwnID { links.insert(relationship) }
      }
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
      paths[hops, default: Path(destination: hop.destination, slots: .empty)].slots
        .formUnion(slot.map { SlotSet($0) } ?? .empty)
    }
  }

  /// True if the list depends on no other objects.
  var isEmpty: Bool { paths.isEmpty && collections.isEmpty }

  /// Returns true if a change may concern objects of the list, but it is unknown which.
  func isVague(_ changes: ObjectChanges, _ schema: ResolvedSchema) -> Bool {
    if collections.isEmpty { return false }
    func isConcerned(_ id: ManagedObjectID) -> Bool {
      schema.entity(id.entity).map { collections.contains($0.id) } ?? true
    }
    return [changes.inserted, changes.updated, changes.deleted, changes.refreshed].contains { ids in
      ids.contains(where: isConcerned)
    } || changesLinks(changes, schema)
  }

  /// Returns whether the links of other objects have changed. An object that comes or goes also changes the links that
  /// lead to it.
  private func changesLinks(_ changes: ObjectChanges, _ schema: ResolvedSchema) -> Bool {
    links.contains { link in
      let entity = schema[link.entity]
      let name = entity.toManys[link.ordinal].name
      func isConcerned(_ id: ManagedObjectID) -> Bool {
        schema.entity(id.entity)?.id == link.entity && changes.changedProperties[id]?.contains(name) != false
      }
      return changes.updated.contains(where: isConcerned) || changes.refreshed.contains(where: isConcerned)
    }
  }

  /// Returns conditions for the objects of the list whose paths lead through a changed object.
  func conditions(_ changes: ObjectChanges, _ schema: ResolvedSchema) -> [NormalPredicate] {
    paths.compactMap { hops, path in
      let entity = schema[path.destination]
      let names = Set(entity.names(of: path.slots))
      // Other objects may already lead to an object that has come, and may still lead to an object that has gone.
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

extension ResolvedPath {
  /// True if the path leads to the fetched object itself.
  fileprivate var isOwnID: Bool { scope == 0 && hops.isEmpty && leaf == .objectID }
}
