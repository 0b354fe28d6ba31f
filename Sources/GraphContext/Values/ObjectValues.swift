import Predicates

extension ModelValues {
  /// The values that an object has now, with its unsaved changes. Reads what isn't loaded yet, and leaves it unloaded.
  /// O(size of the values).
  ///
  /// A new object's values have no ID; where it leads to objects in no context, their IDs are provisional. For a value
  /// that can't be read, this takes the value that its getter gives: see ``ManagedObject``.
  public init(_ object: _$Model) {
    var reader = ObjectValuesReader(object, Self._$names)
    self.init(_$from: &reader)
  }
}

extension ModelWithValues {
  /// The values that the object has now; see ``ModelValues/init(_:)``. For a model with a property of this name, write
  /// `Song.Values(song)`.
  public var values: Values { Values(self) }
}

private struct ObjectValuesReader<Object: ManagedObject>: ValuesReader {
  private let object: Object
  private let names: [String]
  private var place = 0

  init(_ object: Object, _ names: [String]) {
    (self.object, self.names) = (object, names)
    object._$awake()
    if object._$state.phase == .new { object.makeInsertionDefaults() }
  }

  mutating func objectID() -> ManagedObjectID? {
    let id = object.objectID
    return id.isProvisional || id.number.isNone ? nil : id
  }

  mutating func attribute<Value: AttributeType>() -> Value {
    let slot = nextSlot()
    let stored = object.attributeValue(at: slot)
    if let value = Value(_attributeValue: stored) { return value }
    if object.findRecord() != nil { object._$state.host?.unreadableValue(of: object, slot: slot) }
    return .unreadable
  }

  mutating func toOne() -> ManagedObjectID? {
    let id = requiredToOne()
    return id.number.isNone ? nil : id
  }

  /// Returns an ID, with the number `none` if the object leads nowhere.
  mutating func requiredToOne() -> ManagedObjectID {
    let slot = nextSlot()
    var reader = TargetReader()
    object._$visit(slot, &reader)
    if let id = reader.unattached { return id }
    let number = object.reference(at: slot)
    return object.context?.destinationID(number, of: object, slot: slot)
      ?? ManagedObjectID(entity: reader.entity, number: .none, storeID: ManagedObjectID.noStore)
  }

  mutating func skip() { place += 1 }

  private mutating func nextSlot() -> Int {
    defer { place += 1 }
    guard let slot = object._$objectModel.place(of: names[place]) else {
      fatalError("\(Object.entityName) has no property \(names[place])")
    }
    object.noteReading(.slot(slot))
    return slot
  }
}

/// Reads the targets of an object that are in no context.
private struct TargetReader: PropertyVisitor {
  var unattached: ManagedObjectID?
  var entity = EntityLabel(nil, name: "")

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    unattached = cache.unattached?.target?.objectID
    entity = EntityLabel(nil, name: Target.entityName)
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

extension ManagedObjectContext {
  /// Returns the ID of the object that a to-one relationship of this number leads to; of no object for `none`.
  fileprivate func destinationID(
    _ number: ObjectNumber,
    of object: some ManagedObject,
    slot: Int
  ) -> ManagedObjectID? {
    entity(of: object).toOne(slot: slot).map { id(number, coordinator.schema.entities[$0.destination]) }
  }
}
