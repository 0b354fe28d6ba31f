import Cambium

/// A value that is made from an object, to be exported: the inverse of ``ManagedObjectUpdatable``.
public protocol ManagedObjectInitialisable {
  /// The model of the objects.
  associatedtype Object: ManagedObject
  /// Reads the value from an object.
  init(with object: Object) throws
}

extension ManagedObject {
  /// Makes a value of the object and encodes it.
  ///
  /// - Throws: what the value's initialiser and the encoder throw, and the error of a property that can't be read.
  public func encode<Value: ManagedObjectInitialisable & Encodable>(
    to type: Value.Type,
    encoder: JSONEncoder = JSONEncoder()
  ) throws -> Data where Value.Object == Self {
    let data = try encoder.encode(Value(with: self))
    // A getter that can't read returns a placeholder.
    try context?.checkUsable()
    return data
  }
}

extension ManagedObjectContext {
  /// The objects that the query describes, as values, in its order. The first error ends it.
  public func fetch<Value: ManagedObjectInitialisable>(
    _ request: From<Value.Object>,
    as type: Value.Type
  ) throws -> [Value] {
    let values = try fetch(request).map(Value.init(with:))
    // A getter that can't read returns a placeholder.
    try checkUsable()
    return values
  }
}

extension PersistentContainer {
  /// The stored objects that the query describes, as values, in its order. The first error ends it.
  public func fetch<Value: ManagedObjectInitialisable & Sendable>(
    _ request: From<Value.Object>,
    as type: Value.Type
  ) async throws -> [Value] {
    try await query { context in try context.fetch(request, as: type) }
  }
}
