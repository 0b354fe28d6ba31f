import Observation
import Predicates

/// An object of a model: it lives in a context, and its values in the store.
///
/// `@Model` on a class writes the conformance. A class can also be made a model by hand, with the same few members;
/// Docs/Decisions/0010-how-a-model-expands.md shows one.
///
/// ## The life of an object
/// - *New*: made by its initialiser. It needs no context, has a provisional ID, and holds its values and the objects it
///   was given.
/// - *Inserted*: `context.insert(_:)`, or a relationship from an object in a context, gives it its final ID. The
///   objects that it leads to are inserted with it. From now on the context keeps inverses up to date.
/// - *Saved*: a fetch in another context makes a *fault*, whose values are decoded when they are touched.
/// - *Deleted*: still readable until the deletion is saved. Afterwards, or after its context was reset, an object is
///   *gone*: values that were read before stay readable. Other values read as nil, or as an empty value where the type
///   has no nil.
///
/// ## When a value can't be read
/// A getter can't throw. When the store fails under it (a damaged page, a record that isn't there), the getter returns
/// nil or an empty value, and the context remembers the error. Every fetch and save throws the error, and so does the
/// end of the block that the context was made for, until the context is rolled back or reset. A wrong value can't be
/// saved, and can't leave the block as a result.
///
/// ## Observing
/// Models are `Observable`: where a context asks for it, `withObservationTracking(_:onChange:)` and `Observations`
/// follow the properties that are read, relationships among them, also when another context changes them. See
/// ``ManagedObjectContext/isObservable``.
///
/// Objects are equal when they are the same object. They are not `Sendable`: send their ``objectID``.
public protocol ManagedObject: AnyObject, Identifiable, Hashable, Observable, PredicateRoot,
  ObjectReferencing, CustomDebugStringConvertible, SendableMetatype
{
  /// The name of the model's entity: the class's name.
  static var entityName: String { get }
  /// The description of the class that `@Model` writes.
  static var _$model: ModelDescription { get }
  /// The model of this very object: the class's, unless the class has objects of several entities.
  var _$objectModel: ModelDescription { get }
  /// The state of the object: its number, its context, which of its values are loaded.
  // Borrowed: code that is generic over the class reads one field of the state without a copy of all of it.
  @_borrowed
  var _$state: ObjectState { get set }
  /// Makes a fault: no value is loaded.
  init(_$state: consuming ObjectState)
  /// Hands one property's cache to the visitor: a slot, or the number of slots plus the ordinal of a to-many
  /// relationship.
  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor)

  // Hooks. Every one does nothing unless the model declares it.

  /// Called once the object has been inserted, whether by `insert` or through a relationship: for values that belong to
  /// the insertion. Not called when a parent receives the object from a child.
  ///
  /// Runs after the initialiser and before the `insert` or the setter returns. The values that it sets are saved with
  /// the object.
  func awakeFromInsert()
  /// Called before the first value of a stored object is read from the store, and again when its values are read anew,
  /// after a refresh or a change by another context.
  ///
  /// A persistent property that it sets is an unsaved change, and an error in a context that only reads.
  func awakeFromFetch()
  /// Called by a save before it checks the object, if the object is inserted, changed or deleted.
  ///
  /// It may change, insert and delete objects: those are saved too, and their hooks called. If further properties or
  /// many-to-many links of an object change after its call, the hook is called again. After 100 rounds the save throws
  /// `endlessChanges`. If the save fails, the next save calls the hook again, and a save that waits may call it more
  /// than once. So it should change only values that aren't right yet. It must not save.
  func willSave()
  /// Called after the object was saved, for a deleted one too. Changes that it makes are unsaved changes.
  func didSave()
  /// Called before the object is deleted in its context, by `delete` or by a delete rule, while it still leads to the
  /// objects that are deleted with it. If a child deletes the object, the hook is called in the child's context, and
  /// not again in the parent. It must not roll back. It isn't called for objects that rules delete during a save
  /// because another context has linked them.
  func prepareForDeletion()
  /// Checks a new object, in a save and after all ``willSave()``. An error that it throws, such as a
  /// ``ValidationError``, is one of the save's failures. It must change nothing.
  func validateForInsert() throws
  /// Checks a changed object, as ``validateForInsert()`` does a new one. The default implementation calls
  /// ``validateForInsert()``.
  func validateForUpdate() throws
  /// Checks whether the object may be deleted, as ``validateForInsert()`` checks a new one. Also called for an object
  /// that other contexts have changed meanwhile, and for an object that a rule deletes because another context has
  /// linked it. In both cases it is called on a copy, which the context of the deletion doesn't have.
  func validateForDelete() throws
}

// MARK: - Identity

extension ManagedObject {
  /// The object's name in its store. An object that was deleted, or whose context was reset, keeps its ID: a program
  /// can't know in advance which objects other contexts delete. If a required relationship can't be read, its getter
  /// returns an object whose ID has the number `none`.
  ///
  /// An object that was never inserted, or whose insertion was rolled back, has a provisional ID:
  /// ``ManagedObjectID/isProvisional``. The insertion gives it the final ID, before any save. Objects are equal and
  /// hashed by their identity, so the new ID doesn't affect sets of objects. It does affect a dictionary by ID, and a
  /// list that tells its rows apart by ``id``.
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

  /// The entity's label in the object's ID.
  var entityLabel: EntityLabel {
    _$state.host?.entityLabel(of: self) ?? EntityLabel(_$state.entityLeft, name: _$objectModel.entity.name)
  }

  /// The schema's description of the model.
  public static var entityDescription: EntityDescription { _$model.entity }
}

// MARK: - Model

extension ManagedObject {
  @inlinable public var _$objectModel: ModelDescription { Self._$model }

  /// The key by which a coordinator finds the object's entity: the class, or for a record its model, because records of
  /// all entities have one class.
  var entityKey: ObjectIdentifier {
    Self.self == ManagedRecord.self ? ObjectIdentifier(_$objectModel) : ObjectIdentifier(Self.self)
  }
}

// MARK: - State

extension ManagedObject {
  /// True if the object is in a context and was not saved yet.
  public var isInserted: Bool { _$state.phase == .inserted }

  /// True if the object was deleted: in its context, in a save of its context, or elsewhere.
  public var isDeleted: Bool {
    noteReading(.isDeleted)
    return _$state.phase == .deleted || _$state.phase == .gone
  }

  /// True if the object has changes that its context has yet to save: of its values, or of links of its many-to-many
  /// relationships.
  public var hasChanges: Bool { _$state.hasChanges || context?.hasRelinked(self) ?? false }

  /// True if none of the object's values has been read or set.
  public var isFault: Bool { _$state.loaded.isEmpty && _$state.phase == .persistent }
}
