import Predicates

// The hooks of a model that declares none, and functions that accessors call to run hooks.

extension ManagedObject {
  /// Does nothing.
  @inlinable public func awakeFromInsert() {}
  /// Does nothing.
  @inlinable public func awakeFromFetch() {}
  /// Does nothing.
  @inlinable public func willSave() {}
  /// Does nothing.
  @inlinable public func didSave() {}
  /// Does nothing.
  @inlinable public func prepareForDeletion() {}
  /// Accepts the object.
  public func validateForInsert() throws { _$state.host?.noteDefault(.validateForInsert, of: self) }
  /// Calls ``validateForInsert()``: most rules hold for new and for changed objects.
  public func validateForUpdate() throws {
    _$state.host?.noteDefault(.validateForUpdate, of: self)
    try validateForInsert()
  }
  /// Accepts the deletion.
  public func validateForDelete() throws { _$state.host?.noteDefault(.validateForDelete, of: self) }

  /// Runs ``awakeFromFetch()``, which may read any property. A getter calls this before it reads from the store, while
  /// it doesn't access its cache yet.
  @inlinable
  public func _$awake() {
    if _$state.isAwake { return }
    _$state.isAwake = true
    if _$state.host != nil { awakeFromFetch() }
  }

  /// Calls `awakeFromInsert` of the objects that a setter has brought into the context. The setter calls this after it
  /// has filled the cache of a to-many relationship.
  @inlinable
  public func _$didPutToMany() { _$state.host?._$awakeInserted() }
}

/// A rule that an object breaks, to be thrown by ``ManagedObject/validateForInsert()`` and its like.
///
/// ```swift
/// func validateForInsert() throws {
///   if end < start { throw ValidationError("the end is before the start", properties: ["start", "end"]) }
/// }
/// ```
public struct ValidationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule, in a sentence.
  public let message: String
  /// The names of the properties that break it.
  public let properties: [String]

  /// Makes an error.
  public init(_ message: String, properties: [String] = []) {
    self.message = message
    self.properties = properties
  }

  /// The message.
  public var description: String { message }
}
