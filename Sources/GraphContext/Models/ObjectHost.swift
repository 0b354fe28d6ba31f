import Foundation
import Predicates

/// The services that an object needs of its environment. Apps use the host `ManagedObjectContext`; the tracer of key
/// paths is the other host.
///
/// A class instead of a protocol, because every object holds one: a reference is one word, and the generation is one
/// load. Like its objects, a host belongs to one task at a time and is not `Sendable`.
public class ObjectHost {
  /// The generation of the pointers to records that this host has handed out: they belong to one snapshot. A host
  /// raises it when it moves to another snapshot. Then every such pointer is stale.
  @exclusivity(unchecked) @usableFromInline package final var generation: UInt32 = 1

  /// True if records of any entity have another layout in this host's store than in its model: their values are in the
  /// order in which the model declared them when the store was made.
  @exclusivity(unchecked) @usableFromInline package final var hasOtherLayouts = false

  /// The listeners of reads and changes of an object that the host makes.
  @exclusivity(unchecked) @usableFromInline package final var hearersOfFaults = ObjectState.Hearers.change

  /// True if there are, or were, children of the host whose objects can be observed.
  @exclusivity(unchecked) @usableFromInline package final var hasObservableChildren = false

  /// The shape of the class whose fault was made last, which is looked for here first: a host belongs to one task, and
  /// all tasks share the shapes.
  final var lastShape: StoredShape?

  /// The object that ``hasRules(_:for:_:)`` validates at the moment; nil otherwise.
  private final var validated: ObjectIdentifier?
  /// The default implementations of validations that this object has called.
  private final var calledDefaults: DefaultValidations = []

  init() {}

  /// Returns whether an object has rules in code. An object for which `validate` calls the default implementations has
  /// none.
  ///
  /// - Parameters:
  ///   - change: the change that the validation of the object is for.
  ///   - validate: calls the validation.
  final func hasRules(
    _ object: any ManagedObject,
    for change: ValidatedChange,
    _ validate: () -> Void
  ) -> Bool {
    (validated, calledDefaults) = (ObjectIdentifier(object), [])
    defer { validated = nil }
    validate()
    return calledDefaults != DefaultValidations(calledFor: change)
  }

  /// Notes the call of a default implementation, which calls this for its object. Only calls for the object that is
  /// being validated count, because a rule in code may validate other objects.
  final func noteDefault(_ validation: DefaultValidations, of object: any ManagedObject) {
    if validated == ObjectIdentifier(object) { calledDefaults.insert(validation) }
  }

  /// The store that the objects' IDs name.
  var storeID: UUID { missing() }
  /// The store's ID as four bytes, for objects that outlive their host.
  final lazy var storeTag = StoreTags.tag(of: storeID)

  /// Returns the entity's label in the IDs of the object and of others of its kind; nil where there is no store.
  func entityLabel(of object: any ManagedObject) -> EntityLabel? { nil }

  /// Returns the ID of an object in this host.
  func identity(of object: any ManagedObject, _ number: ObjectNumber) -> ManagedObjectID {
    ManagedObjectID(entity: object.entityLabel, number: number, storeID: storeID)
  }

  // MARK: Reading

  /// Returns the object's record in the current snapshot. The bytes must have passed `RecordView(_:layout:)` for the
  /// layout of the object's entity, and must stay where they are until `generation` changes.
  ///
  /// Nil when there is none or it can't be read. The host remembers the error, and throws it at the next call that can
  /// throw.
  func record(of object: any ManagedObject) -> UnsafeRawBufferPointer? { missing() }

  /// Returns the layout of the records of the object's entity in the store. Called only where ``hasOtherLayouts``.
  func layout(of object: any ManagedObject) -> RecordLayout { missing() }

  /// Returns the value of an attribute that is stored externally, as the object's record has it or refers to it. Nil
  /// where it can't be read; the host remembers the error.
  func externalValue(of object: any ManagedObject, slot: Int) -> AttributeValue? { missing() }

  /// Notes that the record holds something at this slot that is no value of the attribute's type. The host remembers
  /// this as an error.
  func unreadableValue(of object: any ManagedObject, slot: Int) { missing() }

  /// Returns the object of this number: the one that the host already has, or a fault.
  func object(of type: any ManagedObject.Type, number: ObjectNumber) -> any ManagedObject {
    missing()
  }

  /// Returns the record of this number that a relationship of a model's object leads to.
  func record(
    _ number: ObjectNumber,
    of owner: any ManagedObject,
    property: Int
  ) -> ManagedRecord { missing() }

  /// Returns whether a relationship of a deleted object leads to an object that is here or below.
  func hasTarget(_ number: ObjectNumber, of owner: any ManagedObject, property: Int) -> Bool { true }

  /// Returns whether a relationship of a model's object can lead to a record, whose class doesn't tell its entity. If
  /// not, the host remembers that.
  func canLead(_ owner: any ManagedObject, by property: Int, to record: ManagedRecord) -> Bool {
    true
  }

  /// Returns the numbers of the objects at the other end of a to-many relationship, unsaved changes included, in the
  /// order of an ordered one, else ascending.
  func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] { missing() }

  /// Returns the numbers at these positions of ``elements(of:toMany:)``; fewer where the list ends, or can't be read.
  func elements(
    of object: any ManagedObject,
    toMany: Int,
    at range: Range<Int>
  ) -> [ObjectNumber] {
    let all = elements(of: object, toMany: toMany)
    return Array(all[range.clamped(to: all.indices)])
  }

  /// Returns the position of an element in the list; nil for an object that is no element.
  func position(of number: ObjectNumber, in object: any ManagedObject, toMany: Int) -> Int? {
    elements(of: object, toMany: toMany).firstIndex(of: number)
  }

  /// True if something could not be read, so that the next call that can throw will throw the error.
  var hasFailed: Bool { false }

  /// Returns the number of elements, without listing them.
  func elementCount(of object: any ManagedObject, toMany: Int) -> Int { missing() }

  func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    missing()
  }

  /// Notes that members were to be added to an object that has left this context.
  func noteLeft(_ object: any ManagedObject) {}

  // MARK: Lists that are changed in place

  /// Returns whether the list of members that the object keeps is still right.
  func hasListing(of object: any ManagedObject, toMany: Int) -> Bool { false }

  /// Notes that the object keeps this list of its members, until the host says otherwise.
  func noteListing<Member: ManagedObject>(
    _ members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) {}

  /// Adds the members behind the noted list, if the list is the noted one with more members at its end.
  func extendListing<Member: ManagedObject>(
    to members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) -> ListExtension { .otherList }

  // MARK: Changing

  /// Notes that the object is about to be changed. The host holds the object from now on.
  ///
  /// - Parameter slots: the slots that are to be set, as far as they are known.
  func willChange(_ object: any ManagedObject, slots: SlotSet) { missing() }

  /// Notes that a property is read, of an object that reports reads.
  ///
  /// - Parameter isObserved: whether the object may have observers.
  func noteReading(of object: any ManagedObject, _ property: ObservedProperty, _ isObserved: Bool) {}

  /// Notes that code is about to set properties of an object that reports reads.
  ///
  /// - Parameter slots: those of the properties.
  func willSet(_ slots: SlotSet, of object: any ManagedObject) {}

  /// Brings the object into this context: inserts it if it is in no context.
  ///
  /// - Returns: whether it is in the context now. False for an object that has left its context for good or is in
  ///   another context; the host remembers that.
  @discardableResult
  func adopt(_ object: any ManagedObject) -> Bool { missing() }

  /// Calls `awakeFromInsert` of the objects that were adopted since.
  func awakeInserted() {}

  /// Notes that an object in no context leads to an object in this context by a property. If the relationship has an
  /// inverse, which then leads to the first object, the first object enters the context, too.
  func reach(_ object: any ManagedObject, by property: Int) {}

  /// Updates the inverse after a to-one relationship was set from one number to another.
  func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    missing()
  }

  /// Adds the object at the other end, which is in this context. Does nothing if it is an element already.
  func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) { missing() }

  func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) { missing() }

  /// Moves elements of an ordered relationship so that they follow one another, the first at this position among the
  /// others. Does nothing for a relationship without order.
  func move(
    _ elements: [any ManagedObject],
    to position: Int,
    of object: any ManagedObject,
    toMany: Int
  ) {}

  /// Gives the elements of an ordered relationship this order; elements that are not named come last. Does nothing for
  /// a relationship without order.
  func arrange(_ numbers: [ObjectNumber], of object: any ManagedObject, toMany: Int) {}

  // MARK: Relationships

  /// Returns the object that a relationship leads to: a record is found by the relationship, as its class doesn't tell
  /// its entity.
  final func object<Object: ManagedObject>(
    _ type: Object.Type,
    _ number: ObjectNumber,
    of owner: any ManagedObject,
    property: Int
  ) -> Object {
    let object: any ManagedObject =
      type == ManagedRecord.self
      ? record(number, of: owner, property: property) : object(of: type, number: number)
    return unsafeDowncast(object, to: type)
  }

  /// Returns whether a relationship can lead to an object that is in this context. If not, the host remembers that.
  final func accepts(_ object: any ManagedObject, of owner: any ManagedObject, property: Int) -> Bool {
    guard let record = object as? ManagedRecord else { return true }
    return canLead(owner, by: property, to: record)
  }

  // MARK: From code in other modules

  /// Calls ``record(of:)``; returns nil for a tracer object.
  @usableFromInline
  package final func _$record(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    object._$state.phase == .tracer ? nil : record(of: object)
  }

  @usableFromInline
  package final func _$layout(of object: any ManagedObject) -> RecordLayout { layout(of: object) }

  @usableFromInline
  package final func _$willChange(_ object: any ManagedObject, _ slot: Int) {
    willChange(object, slots: SlotSet(slot))
  }

  @usableFromInline
  package final func _$noteReading(_ object: any ManagedObject, _ slot: Int, _ isObserved: Bool) {
    noteReading(of: object, .slot(slot), isObserved)
  }

  @usableFromInline
  package final func _$willSet(_ object: any ManagedObject, _ slot: Int) {
    willSet(SlotSet(slot), of: object)
  }

  @usableFromInline
  package final func _$awakeInserted() { awakeInserted() }

  private func missing(_ function: String = #function) -> Never {
    fatalError("\(type(of: self)) does not implement \(function)")
  }
}

/// The result of handing a list of members that was changed in place to the host.
package enum ListExtension {
  /// The list isn't the noted one with more members at its end, and nothing was done.
  case otherList
  /// The members behind the noted list were added, and the list is not noted any more.
  case added
  /// The members behind the noted list were added, and the object keeps the list.
  case listed
}

@available(*, unavailable, message: "a context stays in one task; send the IDs of objects instead")
extension ObjectHost: Sendable {}

/// Validations that a model doesn't declare.
struct DefaultValidations: OptionSet {
  let rawValue: UInt8

  static let validateForInsert = DefaultValidations(rawValue: 1)
  static let validateForUpdate = DefaultValidations(rawValue: 2)
  static let validateForDelete = DefaultValidations(rawValue: 4)
}

extension DefaultValidations {
  /// Makes the default implementations that a validation calls if the object has no rules in code.
  init(calledFor change: ValidatedChange) {
    switch change {
    case .insertion: self = .validateForInsert
    // The default implementation calls the other one.
    case .update: self = [.validateForInsert, .validateForUpdate]
    case .deletion: self = .validateForDelete
    }
  }
}
