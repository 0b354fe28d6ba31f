import GraphContext
import Synchronization

// A block of work for each value.

extension PersistentContainer {
  /// Saves a value in a block of its own. Where others have changed the same properties of the object since, the
  /// value wins.
  ///
  /// Once the value is stored, an error of a hook or of reading it back doesn't make the save fail: a program that
  /// saved it again would store it twice.
  func save<Value: PersistableValue>(_ value: Value) async throws(FlowError) -> Value {
    let stored = StoredValue<Value>()
    do throws(FlowError) {
      return try await save(value, noting: stored)
    } catch {
      guard let value = stored.value.withLock(\.self) else { throw error }
      return value
    }
  }

  private func save<Value: PersistableValue>(
    _ value: Value,
    noting stored: StoredValue<Value>
  ) async throws(FlowError) -> Value {
    try await perform(FlowError.saving) { context in
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.checkKnows(Value.Object.self)
      let object: Value.Object
      // A provisional ID is that of an object that no context has.
      if let id = value.objectID, !id.isProvisional {
        guard let found = try context.find(Value.Object.self, id) else {
          throw FlowError.saving(ObjectGone(objectID: id))
        }
        object = found
      } else {
        object = try ofValue { try value.insert(into: context) }
      }
      try ofValue { try value.update(object) }
      // A value that can't be read back isn't stored.
      let unsaved = try ofValue { try Value(object) }
      try context.saveLast()
      stored.value.withLock { $0 = unsaved }
      // The object doesn't exist any more if another context has deleted it meanwhile. If its unique value was
      // taken, its ID leads to the existing object.
      guard let saved = try context.find(Value.Object.self, object.objectID) else {
        stored.value.withLock { $0 = nil }
        throw FlowError.saving(ObjectGone(objectID: object.objectID))
      }
      let value = try ofValue { try Value(saved) }
      stored.value.withLock { $0 = value }
      return value
    }
  }

  /// Deletes the object of a value in a block of its own. Does nothing for a value that has none, or whose ID is
  /// provisional or that of another model.
  func delete<Value: PersistableValue>(_ value: Value) async throws(FlowError) {
    guard let id = value.objectID, !id.isProvisional else { return }
    try await perform(FlowError.saving) { context in
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.checkKnows(Value.Object.self)
      let object: Value.Object?
      do { object = try context.find(Value.Object.self, id) } catch FlowError.unexpectedType { return }
      guard let object else { return }
      context.delete(object)
      try context.saveLast()
    }
  }

  /// Runs a block, and converts its errors to those of this module.
  private func perform<Result: Sendable>(
    _ wrap: (any Error) -> FlowError,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Result
  ) async throws(FlowError) -> Result {
    do {
      return try await performBackgroundTask(body)
    } catch {
      throw error as? FlowError ?? wrap(error)
    }
  }
}

/// The value once it is stored.
private final class StoredValue<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}

/// Calls code of a value; its error is reported as one of the value.
func ofValue<Result>(_ body: () throws -> Result) throws(FlowError) -> Result {
  do { return try body() } catch { throw .value(error) }
}

extension ManagedObjectContext {
  /// Throws `unknownEntity` if the container was made without the model.
  fileprivate func checkKnows<Object: ManagedObject>(_ type: Object.Type) throws(FlowError) {
    do { _ = try count(From<Object>().limit(0)) } catch {
      throw error.code == .unknownEntity ? .unknownEntity(Object.entityName) : .saving(error)
    }
  }

  /// Returns the object of an ID; nil if it was deleted.
  fileprivate func find<Object: ManagedObject>(
    _ type: Object.Type,
    _ id: ManagedObjectID
  ) throws(FlowError) -> Object? {
    do {
      return try existingObject(type, with: id)
    } catch {
      switch error.code {
      case .objectNotFound: return nil
      case .unknownEntity: throw .unexpectedType(id)
      default: throw .saving(error)
      }
    }
  }
}
