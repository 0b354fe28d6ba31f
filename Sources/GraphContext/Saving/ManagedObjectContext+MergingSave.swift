import Predicates

// The changes that a save stores besides those of its context, or instead of them.

extension ManagedObjectContext {
  /// Merges a request with the changes that others have saved since, if there are any.
  ///
  /// - Parameter settlement: receives the objects of which not everything is stored that the context shows.
  func merge(
    _ request: inout SaveRequest,
    with base: SaveBase,
    _ decisions: MergeDecisions,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) {
    if base.commit == request.baseCommit, !request.hasConflicts { return }
    let newest: any ObjectSource = base.commit == request.baseCommit ? source : try base.source()
    let changeSets = coordinator.engine.changeSets(from: source, to: newest)
    if changeSets.isEmpty, !request.hasConflicts {
      // Commits that change no objects, such as those that lease numbers.
      request.baseCommit = newest.commit
      return
    }
    var resolver = MergeResolver(
      request,
      mergePolicy,
      from: source,
      to: newest,
      changeSets,
      decisions,
      coordinator
    )
    try resolver.resolve()
    if !resolver.undecided.isEmpty {
      settlement.undecided = resolver.undecided
      request = .nothing(on: base.commit)
      return
    }
    settlement.reverted = resolver.reverted
    settlement.merged = resolver.merged
    request = resolver.request
  }

  /// Settles new objects with existing ones that have their unique values.
  ///
  /// - Parameter settlement: receives the results.
  func settle(
    _ request: inout SaveRequest,
    _ policies: UniquePolicies,
    _ base: SaveBase,
    _ settlement: inout SaveSettlement
  ) throws(ContextError) {
    guard policies.settlesAny, request.entities.contains(where: { !$0.inserted.isEmpty }) else { return }
    var resolver = UniqueResolver(request, settlement.reverted, policies, in: try base.source(), coordinator)
    try resolver.resolve()
    if resolver.aliases.allSatisfy(\.isEmpty) { return }
    // Objects that lead to an existing object now instead of a new one, or that have lost it, and new objects that get
    // values of others.
    for changes in resolver.request.entities {
      let ordinal = changes.entity.ordinal
      let numbers = changes.updated.map(\.number) + changes.inserted.map(\.number)
      for number in numbers where resolver.reverted[ordinal].contains(number) {
        settlement.merged.append(ObjectKey(entity: ordinal, number: number))
      }
    }
    settlement.merged += resolver.relinked
    settlement.reverted = resolver.reverted
    settlement.aliases = resolver.aliases
    settlement.owners = resolver.changed
    request = resolver.request
  }
}
