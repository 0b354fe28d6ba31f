import Predicates

// The changes that a save stores besides those of its context, or instead of them.

extension SaveAttempt {
  /// Merges a request with the changes that others have saved since, if there are any.
  mutating func merge(_ request: inout SaveRequest, with base: SaveBase) throws(ContextError) {
    if base.commit == request.baseCommit, !request.hasConflicts { return }
    let (source, coordinator) = (context.source, context.coordinator)
    let newest: any ObjectSource = base.commit == request.baseCommit ? source : try base.source()
    let changeSets = coordinator.engine.changeSets(from: source, to: newest)
    if changeSets.isEmpty, !request.hasConflicts {
      // Commits that change no objects, such as those that lease numbers.
      request.baseCommit = newest.commit
      return
    }
    var resolver = MergeResolver(
      request,
      context.mergePolicy,
      from: source,
      to: newest,
      changeSets,
      decisions,
      coordinator
    )
    try resolver.resolve()
    if !resolver.undecided.isEmpty {
      undecided = resolver.undecided
      request = .nothing(on: base.commit)
      return
    }
    differences.reverted = resolver.reverted
    merged = resolver.merged
    request = resolver.request
  }

  /// Unifies new objects with existing ones that have their unique values.
  mutating func unify(_ request: inout SaveRequest, on base: SaveBase) throws(ContextError) {
    guard uniquePolicies.unifiesAny, request.entities.contains(where: { !$0.inserted.isEmpty }) else {
      return
    }
    var resolver = UniqueResolver(
      request,
      differences.reverted,
      uniquePolicies,
      in: try base.source(),
      context.coordinator
    )
    try resolver.resolve()
    if resolver.aliases.allSatisfy(\.isEmpty) { return }
    // Objects that lead to an existing object now instead of a new one, or that have lost it, and new objects that get
    // values of others.
    for changes in resolver.request.entities {
      let ordinal = changes.entity.ordinal
      let numbers = changes.updated.map(\.number) + changes.inserted.map(\.number)
      for number in numbers where resolver.reverted[ordinal].contains(number) {
        merged.append(ObjectKey(entity: ordinal, number: number))
      }
    }
    merged += resolver.relinked
    differences = SaveDifferences(reverted: resolver.reverted, aliases: resolver.aliases)
    owners = resolver.changed
    request = resolver.request
  }
}
