import GraphContext

extension PersistentContainer {
  /// Follows the list of a request, until the task is cancelled.
  func follow<Value: PersistableValue>(
    _ request: Value.Request,
    in place: FollowingPlace,
    receive: @Sendable (PersistenceFetchResult<Value>) -> Void
  ) async throws(FlowError) {
    var elements: [Value] = []
    do {
      let updates = follow(request.orderedQuery, sectionedBy: request.sections, in: place) { object in
        try ofValue { try Value(object) }
      }
      for try await update in updates {
        switch update {
        case .all(let values):
          elements = values
          receive(.elements(values))
        case .changes(let changes, let values):
          let difference = changes.difference(from: elements, to: values)
          elements = difference.flatMap(elements.applying) ?? []
          receive(.difference(difference))
        }
      }
    } catch {
      if error is CancellationError { return }
      throw error as? FlowError ?? .request(error)
    }
  }
}

extension ListChanges {
  /// Returns the difference between lists of values.
  ///
  /// - Parameters:
  ///   - old: the old list.
  ///   - new: the new values of the objects that were added, moved or changed.
  func difference<Value>(
    from old: [Value],
    to new: [ManagedObjectID: Value]
  ) -> CollectionDifference<Value>? {
    guard let difference = collectionDifference else { return nil }
    var steps: [CollectionDifference<Value>.Change] = []
    for step in difference {
      switch step {
      case .remove(let offset, _, let place):
        guard old.indices.contains(offset) else { return nil }
        steps.append(.remove(offset: offset, element: old[offset], associatedWith: place))
      case .insert(let offset, let id, let place):
        guard let element = new[id] else { return nil }
        steps.append(.insert(offset: offset, element: element, associatedWith: place))
      }
    }
    return CollectionDifference(steps)
  }
}
