import GraphContext

// Mass changes in the store as operations. Contexts notice the changes by themselves, so the program needn't
// merge them.

extension TaskOperation where Output == [ManagedObjectID] {
  /// Returns an operation that deletes the objects of a query in the store, without making the objects. Its
  /// output is their IDs.
  public static func batchDelete<Object: ManagedObject>(
    _ request: From<Object>,
    in container: PersistentContainer
  ) -> TaskOperation {
    TaskOperation { try await container.batchDelete(request) }
  }

  /// Returns an operation that sets attributes of the objects of a query in the store, without making the
  /// objects. Its output is their IDs.
  public static func batchUpdate<Object: ManagedObject>(
    _ request: From<Object>,
    _ assignments: Assignment<Object>...,
    in container: PersistentContainer
  ) -> TaskOperation {
    TaskOperation { try await container.batchUpdate(request, assignments) }
  }
}
