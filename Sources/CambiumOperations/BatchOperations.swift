import GraphContext

// Mass changes in the store as operations. Contexts learn of them by themselves, so nothing has to be merged into any.

extension TaskOperation where Output == [ManagedObjectID] {
  /// An operation that deletes the objects of a query in the store, without making them. Its output are their IDs.
  public static func batchDelete<Object: ManagedObject>(
    _ request: From<Object>,
    in container: PersistentContainer
  ) -> TaskOperation {
    TaskOperation { try await container.batchDelete(request) }
  }

  /// An operation that sets attributes of the objects of a query in the store, without making them. Its output are their IDs.
  public static func batchUpdate<Object: ManagedObject>(
    _ request: From<Object>,
    _ assignments: Assignment<Object>...,
    in container: PersistentContainer
  ) -> TaskOperation {
    TaskOperation { try await container.batchUpdate(request, assignments) }
  }
}
