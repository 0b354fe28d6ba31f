import Predicates

/// The values and members of an object of a context at one moment, as a value to keep, to compare and to send anywhere:
/// its ``ModelWithValues/Values``, and the IDs of the members of its to-many relationships.
///
/// ```swift
/// var snapshot = try ObjectSnapshot(album)
/// print(snapshot.title, snapshot.artist, snapshot.songs.count)
/// snapshot.title = "Blue"
/// ```
///
/// The properties are those of the class: attributes as they are, relationships as IDs. They can be set, which changes
/// the copy alone. `context.apply(snapshot.values)` applies the values to the object, but not the members. Properties
/// that ``ModelWithValues/Values`` leaves out are left out here, except to-many relationships. Snapshots are equal if
/// their IDs, values and members are equal. Members of ordered relationships are in their order, others in the order of
/// their IDs.
///
/// Where the members aren't needed, use ``ModelWithValues/values`` of the object.
@dynamicMemberLookup
public struct ObjectSnapshot<Object: ModelWithValues>: Sendable, Hashable {
  /// The object.
  public let objectID: ManagedObjectID
  /// The attributes of the object, and the IDs that its to-one relationships lead to.
  public var values: Object.Values
  private var members: [String: [ManagedObjectID]]

  /// Makes a snapshot of an object with its context's unsaved changes. O(size of the values + members).
  ///
  /// - Throws: `objectNotFound` for an object that is in no context or is deleted; `store` or `corrupt` if it can't be
  ///   read, and what the context throws because of an earlier error.
  public init(_ object: Object) throws(ContextError) {
    guard let context = object._$state.host as? ManagedObjectContext, !object.isDeleted else {
      let text = "an object of \(Object.entityName) that is deleted or in no context can't have a snapshot"
      throw ContextError(.objectNotFound, text)
    }
    (objectID, values) = (object.objectID, object.values)
    let entity = context.entity(of: object)
    members = [:]
    for (ordinal, relationship) in entity.toManys.enumerated() where !relationship.isHidden {
      guard let view = ToManyRelationship(of: object, ordinal: ordinal) else { continue }
      let destination = context.coordinator.schema.entities[relationship.destination]
      members[relationship.name] = view.numbers.map { context.id($0, destination) }
    }
    try context.checkUsable()
  }

  /// Accesses an attribute, or the ID that a to-one relationship leads to.
  public subscript<Value>(dynamicMember property: WritableKeyPath<Object.Values, Value>) -> Value {
    get { values[keyPath: property] }
    set { values[keyPath: property] = newValue }
  }

  /// Accesses the IDs of the members of a to-many relationship. The class must store the relationship: a computed
  /// property that gives objects ends the program.
  public subscript<Members: RelationshipCollection>(
    dynamicMember property: KeyPath<Object, Members>
  ) -> [ManagedObjectID] {
    get { members[name(of: property), default: []] }
    set { members[name(of: property)] = newValue }
  }

  private func name(of property: PartialKeyPath<Object>) -> String {
    guard let names = try? Object.predicatePath(of: property), names.count == 1, members[names[0]] != nil
    else {
      fatalError("\(property) is no relationship that \(Object.entityName) stores")
    }
    return names[0]
  }
}
