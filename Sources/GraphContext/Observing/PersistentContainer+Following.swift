/// An update of a followed query: first all its values, then the differences.
public enum ListUpdate<Value: Sendable>: Sendable {
  /// The values as they are: at first, after each reload, and when the consumer is so far behind that the differences
  /// would be larger than the list.
  case all([Value])
  /// The difference to the values before, with new values of the objects that have come, moved or changed.
  case changes(ListChanges, values: [ManagedObjectID: Value])

  /// Brings an array of the values up to date. The array was empty before the first update, and each one is applied to
  /// it in its turn. O(n + k log k) for n values and k changes.
  public func apply(to values: inout [Value]) {
    switch self {
    case .all(let all): values = all
    case .changes(let changes, let news):
      let new = changes.applied(to: values) { id in
        guard let value = news[id] else { fatalError("an update has no value for \(id)") }
        return value
      }
      guard let new else { fatalError("an update is applied to an array of other values") }
      values = new
    }
  }
}

extension PersistentContainer {
  /// Follows a query: a sequence of its objects as values, for a task on any executor, until the task ends it or the
  /// store is closed.
  ///
  /// ```swift
  /// for try await update in container.follow(From<Flight>().orderBy(\.hour).limit(50)) {
  ///   try await client.send(update.jsonPatch())
  /// }
  /// ```
  ///
  /// The query has a context of its own on a queue of its own, which moves on after each save to the store, by any
  /// context, batch or import. Saves that come while the query handles another save are handled together. Differences
  /// that the consumer hasn't read wait in memory while they have at most as many changes as the list has objects, or
  /// at most 64. Beyond that they are dropped, and the consumer gets all values when it reads on. So a consumer that
  /// stops reading holds no more memory than the list. The snapshot that the context shows is held until the sequence
  /// ends.
  ///
  /// In the view context the query also shows the objects that are inserted, changed and deleted there and not saved.
  /// The sequence keeps the container then, and moves with the view context.
  ///
  /// - Parameters:
  ///   - request: the query.
  ///   - sectionedBy: what divides the list, for the paths in the changes.
  ///   - place: the context in which the query is followed.
  ///   - value: makes the value of an object, on the context's queue, or on the main actor for the view context.
  /// - Returns: the sequence. It throws `closed` if the container is closed, and the errors of ``FetchedResults`` and
  ///   `value`, and ends with the first of them.
  public func follow<Object: ManagedObject, Value: Sendable>(
    _ request: From<Object>,
    sectionedBy: SectionedBy<Object>? = nil,
    in place: FollowingPlace = .store,
    as value: @escaping @Sendable (Object) throws -> Value
  ) -> AsyncThrowingStream<ListUpdate<Value>, any Error> {
    // A signal says that the feed has an update.
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    do {
      try handle.checkOpen()
      // The sequence keeps the feed.
      switch place {
      case .store:
        let feed = try ListFeed<Object, Value>(coordinator, continuation, value)
        Task { await feed.start(request, sectionedBy) }
        return ListUpdate.sequence(after: signals) { try await feed.next() }
      case .viewContext:
        let feed = ViewListFeed<Object, Value>(self, continuation, value)
        Task { await feed.start(request, sectionedBy) }
        return ListUpdate.sequence(after: signals) { try await feed.next() }
      }
    } catch {
      let (stream, continuation) = AsyncThrowingStream<ListUpdate<Value>, any Error>.makeStream()
      continuation.finish(throwing: error)
      return stream
    }
  }

  /// Follows a query, with the objects as their ``ModelWithValues/Values``.
  public func follow<Object: ModelWithValues>(
    _ request: From<Object>,
    sectionedBy: SectionedBy<Object>? = nil,
    in place: FollowingPlace = .store
  ) -> AsyncThrowingStream<ListUpdate<Object.Values>, any Error> {
    follow(request, sectionedBy: sectionedBy, in: place) { $0.values }
  }
}
