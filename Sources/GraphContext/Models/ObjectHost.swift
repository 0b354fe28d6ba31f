import Foundation
import Predicates

/// What an object asks of the world it lives in. `ManagedObjectContext` is the one that apps meet; the tracer of key
/// paths is the other.
///
/// A class instead of a protocol, because every object holds one: a reference is one word, and the generation is one load.
/// Like its objects, a host belongs to one task at a time and is not `Sendable`.
public class ObjectHost {
  /// Which snapshot the pointers to records that this host gave away belong to. A host raises it when it moves to
  /// another snapshot; then every such pointer is stale.
  @exclusivity(unchecked) @usableFromInline package final var generation: UInt32 = 1

  /// Whether records of any entity lie in this host's store otherwise than its model says: their values are in the order
  /// in which the model declared them when the store was made.
  @exclusivity(unchecked) @usableFromInline package final var hasOtherLayouts = false

  /// Who hears of what is read and set of an object that the host makes.
  @exclusivity(unchecked) @usableFromInline package final var hearersOfFaults = ObjectState.Hearers.change

  /// Whether there are, or were, children of the host whose objects can be observed.
  @exclusivity(unchecked) @usableFromInline package final var hasObservableChildren = false

  /// The shape of the class whose fault was made last, which is looked for here first: a host belongs to one task, and all tasks share the shapes.
  final var lastShape: StoredShape?

  /// The object that ``hasRules(_:for:_:)`` validates at the moment; nil otherwise.
  private final var validated: ObjectIdentifier?
  /// The default implementations of validations that this object has called.
  private final var calledDefaults: DefaultValidations = []

  package init() {}

  /// Whether an object has rules in code. One for which `validate` calls the default implementations has none.
  ///
  /// - Parameters:
  ///   - change: what the validation of the object is for.
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

  /// A default implementation calls this for its object. Only calls for the object that is being validated count, because a rule in code may validate other objects.
  final func noteDefault(_ validation: DefaultValidations, of object: any ManagedObject) {
    if validated == ObjectIdentifier(object) { calledDefaults.insert(validation) }
  }

  /// The store that the objects' IDs name.
  package var storeID: UUID { missing() }
  /// The store's ID as four bytes, for objects that outlive their host.
  package final lazy var storeTag = StoreTags.tag(of: storeID)

  /// What the IDs of the object and of its kind say of their entity; nil where there is no store.
  package func entityLabel(of object: any ManagedObject) -> EntityLabel? { nil }

  /// The ID of an object in this host.
  func identity(of object: any ManagedObject, _ number: ObjectNumber) -> ManagedObjectID {
    ManagedObjectID(entity: object.entityLabel, number: number, storeID: storeID)
  }

  // MARK: Reading

  /// The object's record in the current snapshot. The bytes must have passed `RecordView(_:layout:)` for the layout of
  /// the object's entity, and must stay where they are until `generation` changes.
  ///
  /// Nil when there is none or it can't be read. The host remembers why, and says so at the next call that can throw.
  package func record(of object: any ManagedObject) -> UnsafeRawBufferPointer? { missing() }

  /// How the records of the object's entity lie in the store. Asked only where ``hasOtherLayouts``.
  package func layout(of object: any ManagedObject) -> RecordLayout { missing() }

  /// The value of an attribute that is stored externally, as the object's record has it or refers to it. Nil where it can't be read; the host remembers why.
  package func externalValue(of object: any ManagedObject, slot: Int) -> AttributeValue? { missing() }

  /// The record holds something at this slot that is no value of the attribute's type. The host remembers it.
  package func unreadableValue(of object: any ManagedObject, slot: Int) { missing() }

  /// The one object of this number: the one that is already here, or a fault.
  package func object(of type: any ManagedObject.Type, number: ObjectNumber) -> any ManagedObject {
    missing()
  }

  /// The record of this number that a relationship of a model's object leads to.
  package func record(
    _ number: ObjectNumber,
    of owner: any ManagedObject,
    property: Int
  ) -> ManagedRecord { missing() }

  /// Whether a relationship of a model's object can lead to a record, whose class doesn't tell its entity. If not, the host remembers that.
  package func canLead(_ owner: any ManagedObject, by property: Int, to record: ManagedRecord) -> Bool {
    true
  }

  /// The numbers of the objects at the other end of a to-many relationship, unsaved changes included, in the order of an ordered one, else ascending.
  package func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] { missing() }

  /// Those at these positions of the list; fewer where it ends, or can't be read.
  package func elements(
    of object: any ManagedObject,
    toMany: Int,
    at range: Range<Int>
  ) -> [ObjectNumber] {
    let all = elements(of: object, toMany: toMany)
    return Array(all[range.clamped(to: all.indices)])
  }

  /// The position of an element in the list; nil for an object that is none.
  package func position(of number: ObjectNumber, in object: any ManagedObject, toMany: Int) -> Int? {
    elements(of: object, toMany: toMany).firstIndex(of: number)
  }

  /// Whether something could not be read, and the next call that can throw will say so.
  package var hasFailed: Bool { false }

  /// How many those are, without listing them.
  package func elementCount(of object: any ManagedObject, toMany: Int) -> Int { missing() }

  package func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    missing()
  }

  /// Members were to be added to an object that has left this context.
  package func noteLeft(_ object: any ManagedObject) {}

  // MARK: Lists that are changed in place

  /// Whether the list of members that the object keeps is still right.
  package func hasListing(of object: any ManagedObject, toMany: Int) -> Bool { false }

  /// The object keeps this list of its members, from now on until the host says otherwise.
  package func noteListing<Member: ManagedObject>(
    _ members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) {}

  /// If the list is the one that was noted with more members at its end, adds those.
  package func extendListing<Member: ManagedObject>(
    to members: [Member],
    of object: any ManagedObject,
    toMany: Int
  ) -> ListExtension { .otherList }

  // MARK: Changing

  /// The object is about to be changed. The host keeps it from now on.
  ///
  /// - Parameter slots: bits of the slots that are to be set, as far as they are known.
  package func willChange(_ object: any ManagedObject, slots: UInt64) { missing() }

  /// A property of an object is read that reports that.
  ///
  /// - Parameter isObserved: whether the object may have observers.
  func noteReading(of object: any ManagedObject, _ property: ObservedProperty, _ isObserved: Bool) {}

  /// Code is about to set properties of an object that reports what is read.
  ///
  /// - Parameter slots: their bits.
  func willSet(_ slots: UInt64, of object: any ManagedObject) {}

  /// The object is to be in this context: it is inserted if it is in none.
  ///
  /// - Returns: whether it is in the context now. One that is gone or in another context is not, and the host remembers that.
  @discardableResult
  package func adopt(_ object: any ManagedObject) -> Bool { missing() }

  /// Calls `awakeFromInsert` of the objects that were adopted since.
  package func awakeInserted() {}

  /// An object in no context leads to one in this context by a property: it is to be in this context too if the relationship has an inverse,
  /// because that leads to it.
  package func reach(_ object: any ManagedObject, by property: Int) {}

  /// A to-one relationship was set from one number to another. The host brings the inverse up to date.
  package func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    missing()
  }

  /// The object at the other end, which is in this context, is added; nothing happens when it is there already.
  package func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) { missing() }

  package func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) { missing() }

  /// Elements of an ordered relationship come one after the other, the first at this position among the others. Nothing happens where there is no order.
  package func move(
    _ elements: [any ManagedObject],
    to position: Int,
    of object: any ManagedObject,
    toMany: Int
  ) {}

  /// The elements of an ordered relationship get this order; those that are not named come last. Nothing happens where there is no order.
  package func arrange(_ numbers: [ObjectNumber], of object: any ManagedObject, toMany: Int) {}

  // MARK: Relationships

  /// The object that a relationship leads to: a record is found by the relationship, as its class doesn't tell its entity.
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

  /// Whether a relationship can lead to an object that is in this context. If not, the host remembers that.
  final func accepts(_ object: any ManagedObject, of owner: any ManagedObject, property: Int) -> Bool {
    guard let record = object as? ManagedRecord else { return true }
    return canLead(owner, by: property, to: record)
  }

  // MARK: From code in other modules

  /// ``record(of:)`` for an object that may ask.
  @usableFromInline
  package final func _$record(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    object._$state.phase == .tracer ? nil : record(of: object)
  }

  @usableFromInline
  package final func _$layout(of object: any ManagedObject) -> RecordLayout { layout(of: object) }

  @usableFromInline
  package final func _$willChange(_ object: any ManagedObject, _ slot: Int) {
    willChange(object, slots: 1 << UInt64(slot))
  }

  @usableFromInline
  package final func _$noteReading(_ object: any ManagedObject, _ slot: Int, _ isObserved: Bool) {
    noteReading(of: object, .slot(slot), isObserved)
  }

  @usableFromInline
  package final func _$willSet(_ object: any ManagedObject, _ slot: Int) {
    willSet(1 << UInt64(slot), of: object)
  }

  @usableFromInline
  package final func _$awakeInserted() { awakeInserted() }

  private func missing(_ function: String = #function) -> Never {
    fatalError("\(type(of: self)) does not implement \(function)")
  }
}

/// What became of a list of members that was changed in place.
package enum ListExtension {
  /// It isn't the noted one with more at its end, and nothing was done.
  case otherList
  /// What was behind the noted one was added, and the list is not noted any more.
  case added
  /// What was behind the noted one was added, and the object keeps the list.
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
  /// The default implementations that a validation calls if the object has no rules in code.
  init(calledFor change: ValidatedChange) {
    switch change {
    case .insertion: self = .validateForInsert
    // The default implementation calls the other one.
    case .update: self = [.validateForInsert, .validateForUpdate]
    case .deletion: self = .validateForDelete
    }
  }
}
