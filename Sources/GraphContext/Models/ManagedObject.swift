import Observation
import Predicates

/// An object of a model: it lives in a context, and its values in the store.
///
/// `@Model` on a class writes the conformance. A class can also be made a model by hand, with the same few members;
/// Docs/Decisions/0010-how-a-model-expands.md shows one.
///
/// ## The life of an object
/// - *New*: made by its initialiser. It needs no context, has a provisional ID, and holds its values and the objects it was given.
/// - *Inserted*: `context.insert(_:)`, or being reached through a relationship from an object in a context, gives it
///   its final ID, and with it come the objects it leads to. From now on the context keeps inverses up to date.
/// - *Saved*: a fetch in another context makes a *fault*, whose values are decoded when they are touched.
/// - *Deleted*: still readable until the deletion is saved. Afterwards, or after its context was reset, an object is
///   *gone*: what was read before stays readable, and anything else reads as nil, or an empty value where nil is none.
///
/// ## When a value can't be read
/// A getter can't throw. When the store fails under it (a damaged page, a record that isn't there), it returns nil or an
/// empty value, and the context remembers the error: every fetch and save throws it, and so does the end of the block
/// that the context was made for, until the context is rolled back or reset. A wrong value can't be saved, and can't
/// leave the block as a result.
///
/// ## Observing
/// Models are `Observable`: where a context asks for it, `withObservationTracking(_:onChange:)` and `Observations` follow the properties that are read,
/// relationships among them, also when another context changes them. See ``ManagedObjectContext/isObservable``.
///
/// Objects are equal when they are the same object. They are not `Sendable`: send their ``objectID``.
public protocol ManagedObject: AnyObject, Identifiable, Hashable, Observable, PredicateRoot,
  ObjectReferencing, CustomDebugStringConvertible, SendableMetatype
{
  /// The name of the model's entity: the class's name.
  static var entityName: String { get }
  /// What `@Model` says of the class.
  static var _$model: ModelDescription { get }
  /// The model of this very object: the class's, unless the class has objects of several entities.
  var _$objectModel: ModelDescription { get }
  /// What the object knows of itself: its number, its context, which of its values are loaded.
  // Borrowed: code that is generic over the class reads one field of the state without a copy of all of it.
  @_borrowed
  var _$state: ObjectState { get set }
  /// Makes a fault: no value is loaded.
  init(_$state: consuming ObjectState)
  /// Hands one property's cache to the visitor: a slot, or the number of slots plus the ordinal of a to-many
  /// relationship.
  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor)

  // Hooks. Every one does nothing unless the model declares it.

  /// Called once the object has been inserted, whether by `insert` or through a relationship: for values that belong to the insertion. Not called
  /// when a parent receives the object from a child.
  ///
  /// Runs after the initialiser and before the `insert` or the setter returns. What it sets is saved with the object.
  func awakeFromInsert()
  /// Called before the first value of a stored object is read from the store, and again when its values are read anew, after a refresh or a change
  /// by another context.
  ///
  /// A persistent property that it sets is an unsaved change, and an error in a context that only reads.
  func awakeFromFetch()
  /// Called by a save before it checks the object, if the object is inserted, changed or deleted.
  ///
  /// It may change, insert and delete objects: those are saved too, and their hooks called. An object that gets further changed properties
  /// or many-to-many links after its call is called again. After 100 rounds the save throws `unsettledChanges`. It is called again by the next save if this one fails, and may be
  /// called more than once by one that waits; so it should change only what is not yet as it should be. It must not save.
  func willSave()
  /// Called after the object was saved, for a deleted one too. What it changes is an unsaved change.
  func didSave()
  /// Called before the object is deleted in its context, by `delete` or by a delete rule, while it still leads to the objects that go with
  /// it; in a child's context when the child deletes it, and not again in the parent. It must not roll back. Not called for objects that a save finds to be deleted by rules because another context has linked them.
  func prepareForDeletion()
  /// Checks a new object, in a save and after all ``willSave()``. An error that it throws, such as a ``ValidationError``, is one of the save's
  /// failures. It must change nothing.
  func validateForInsert() throws
  /// Checks a changed object, as ``validateForInsert()`` does a new one. By its default it calls that.
  func validateForUpdate() throws
  /// Checks whether the object may be deleted, as ``validateForInsert()`` does a new one. Called, too, for an object that others have changed meanwhile, and for one that a
  /// rule deletes because another context has linked it: of a copy, which the context of the deletion doesn't have.
  func validateForDelete() throws
}

// MARK: - Identity

extension ManagedObject {
  /// The object's name in its store. An object that is gone keeps it, because a program can't know in advance what other contexts delete.
  /// Where a required relationship can't be read, the object that it gives has an ID with the number `none`.
  ///
  /// An object that was never inserted, or whose insertion was rolled back, has a provisional one: ``ManagedObjectID/isProvisional``. The
  /// insertion gives it the final ID, before any save. Objects are equal and hashed by their identity, so sets of them don't notice;
  /// a dictionary by ID, or a list that tells its rows apart by ``id``, does.
  public var objectID: ManagedObjectID {
    let place = _$state.place
    guard let host = place.host, place.phase != .tracer else { return identityOutside }
    return host.identity(of: self, place.number)
  }

  /// The ID of an object that is in no context.
  private var identityOutside: ManagedObjectID {
    switch _$state.phase {
    case .tracer: return tracer.identity(of: self)
    case .new:
      let number = _$state.provisionalNumber()
      return ManagedObjectID(entity: entityLabel, number: number, storeID: ManagedObjectID.noStore)
    default:
      let storeID = _$state.storeID ?? ManagedObjectID.noStore
      return ManagedObjectID(entity: entityLabel, number: _$state.number, storeID: storeID)
    }
  }

  /// The object's ``objectID``, for `Identifiable`.
  public var id: ManagedObjectID { objectID }

  public static func == (left: Self, right: Self) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The object's identity in predicates; nil while it is in no context.
  public var objectReference: ObjectReference? {
    let number = _$state.number
    guard !number.isNone, _$state.phase != .tracer else { return nil }
    return ObjectReference(entity: entityLabel, number: number, store: _$state.storeID)
  }

  /// What the object's ID says of its entity.
  var entityLabel: EntityLabel {
    _$state.host?.entityLabel(of: self) ?? EntityLabel(_$state.entityLeft, name: _$objectModel.entity.name)
  }

  /// What the schema says of the model.
  public static var entityDescription: EntityDescription { _$model.entity }
}

// MARK: - Model

extension ManagedObject {
  @inlinable public var _$objectModel: ModelDescription { Self._$model }

  /// What a coordinator finds the object's entity by: the class, or the model of a record, whose class is that of every entity's records.
  var entityKey: ObjectIdentifier {
    Self.self == ManagedRecord.self ? ObjectIdentifier(_$objectModel) : ObjectIdentifier(Self.self)
  }
}

// MARK: - State

extension ManagedObject {
  /// Whether the object is in a context and was not saved yet.
  public var isInserted: Bool { _$state.phase == .inserted }

  /// Whether the object was deleted: in its context, in a save of its context, or elsewhere.
  public var isDeleted: Bool {
    noteReading(.isDeleted)
    return _$state.phase == .deleted || _$state.phase == .gone
  }

  /// Whether the object has changes that its context has yet to save: of its values, or of links of its many-to-many relationships.
  public var hasChanges: Bool { _$state.hasChanges || context?.hasRelinked(self) ?? false }

  /// Whether none of the object's values has been read or set.
  public var isFault: Bool { _$state.loaded == 0 && _$state.phase == .persistent }
}
