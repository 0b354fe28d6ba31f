import Predicates

/// The storage, in an object, for the value of one attribute that was decoded or set.
///
/// It takes any type. So a type that can't be stored causes a single compiler error, that of the getter, which needs an
/// `AttributeType`.
public struct Cached<Value> {
  @usableFromInline package var stored: Value?

  /// Makes a value that is not there yet.
  @inlinable
  public init() { stored = nil }

  /// Makes a value that was decoded or set.
  @inlinable
  public init(_ value: Value) { stored = value }

  /// The value. Traps if there is none: read it only if the object's state says that the slot is loaded.
  @inlinable
  public var value: Value {
    // A model written by hand can get its state wrong, so this is checked; it costs a compare.
    if let stored { stored } else { Self.missing() }
  }

  @usableFromInline static func missing() -> Value {
    fatalError("the state of an object says that a value is loaded, but the value is missing")
  }
}

/// The storage, in an object, for the target of a to-one relationship: the number of the target object.
///
/// A number, not the object: objects that refer to each other would keep each other alive. Objects that are in no
/// context yet have no numbers; between these it is the object.
public struct ToOneReference<Target: ManagedObject> {
  /// The target's number; `none` where the relationship is nil.
  @usableFromInline package var number = ObjectNumber.none
  /// The object that was assigned before this object was in a context.
  @usableFromInline var unattached: UnattachedTarget<Target>?

  /// Makes a reference that is not there yet, or is nil.
  @inlinable
  public init() {}

  /// Makes a reference to an object in no context; nothing is kept of one that is in a context.
  @inlinable
  public init(_ target: Target?) {
    // Every object of a fetch begins with nil, so that this must cost nothing.
    if let target { unattached = UnattachedTarget(target) }
  }
}

/// The storage, in an object, for the target of an ordered to-one relationship, and for the object's place among the
/// objects that lead to the same target.
///
/// A model visits the reference at the slot of the relationship. It visits the place as an attribute at a slot behind
/// those of all declared properties: the places are in the order of their relationships.
public struct OrderedReference<Target: ManagedObject> {
  /// The target of the relationship.
  public var reference: ToOneReference<Target>
  /// The object's place; nil for the place of the object's number.
  public var place = Cached<ListPlace?>(nil)

  /// Makes a reference that is not there yet, or is nil.
  @inlinable
  public init() { reference = ToOneReference() }

  /// Makes a reference to an object in no context; nothing is kept of one that is in a context.
  @inlinable
  public init(_ target: Target?) { reference = ToOneReference(target) }
}

/// The storage, in an object, for the members of a to-many relationship while the object is in no context. Afterwards
/// the context knows the members. Then only the list that was changed in place last is kept here, as long as the
/// context says that the list is right (`MemberListings`).
public struct ToManyMembers<Target: ManagedObject> {
  @usableFromInline var unattached: UnattachedMembers<Target>?

  /// Makes the storage without members.
  @inlinable
  public init() {}

  /// Keeps the members of a collection that stands for no relationship of an object in a context.
  public init(_ members: some RelationshipCollection<Target>) { unattached = members._unattached }
}
