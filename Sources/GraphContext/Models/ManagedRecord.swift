import Predicates

/// An object whose class the program doesn't have: its attributes and relationships are read and set by name.
///
/// ```swift
/// let song = try context.insert(entity: "Song")
/// try song.set("title", to: "Carey")
/// try song.setObject("album", to: album)
/// try context.save()
/// ```
///
/// A record lives in a context as the objects of models do, and the documentation of ``ManagedObject`` applies to it:
/// faulting, inverses, delete rules, uniqueness, conflicts. The checks that the compiler makes for a model's class are
/// made when a property is named. A name that the entity doesn't have, a value of another kind and an object of another
/// entity throw, and change nothing. A required property may be nil until the record is saved.
///
/// Contexts make records: ``ManagedObjectContext/insert(entity:)``, ``ManagedObjectContext/fetch(_:)-(DynamicQuery)``.
public final class ManagedRecord: ManagedObject {
  /// No name: the class has records of every entity, so it is the model of none, and a schema refuses it.
  public static let entityName = ""
  public static let _$model = ModelDescription(EntityDescription(name: "", properties: []))

  public let _$objectModel: ModelDescription
  public var _$state: ObjectState
  /// The values by slot. The target of a to-one relationship is a `reference`, or `null`.
  private var values: [AttributeValue]
  /// The position of the record's class among the classes of its entity; 0 where no class inherits from another.
  private let classPlace: Int

  init(_ state: consuming ObjectState, of model: ModelDescription, classPlace: Int = 0) {
    _$state = state
    _$objectModel = model
    self.classPlace = classPlace
    values = Array(repeating: .null, count: model.slotCount)
  }

  /// Makes a new record, with the values that its entity has for new objects.
  ///
  /// - Parameter name: the name of the entity, or of one of its classes.
  convenience init(newOf model: ModelDescription, named name: String) {
    let classes = model.entity.classes
    let place = classes.firstIndex { $0.name == name } ?? 0
    let state = ObjectState(lacking: model.insertionSlots(ofClassAt: place))
    self.init(state, of: model, classPlace: place)
    for (slot, property) in model.visitedProperties.prefix(model.slotCount).enumerated()
    where classes.isEmpty || model.entity.hasProperty(property.name, classes[place]) {
      if let attribute = property.attribute { values[slot] = attribute.makeInitialValue() }
    }
  }

  /// Makes a record of no entity, without properties.
  public convenience init(_$state state: consuming ObjectState) { self.init(state, of: Self._$model) }

  /// The name of the class that the record is an object of; that of its entity where no class inherits from another.
  public var className: String { entity.classes.isEmpty ? entity.name : entity.classes[classPlace].name }

  /// Returns whether the record's class declares or inherits a property of its entity.
  func hasProperty(_ name: String) -> Bool {
    entity.classes.isEmpty || entity.hasProperty(name, entity.classes[classPlace])
  }

  /// The slots that get values by the record's insertion.
  var insertionSlots: SlotSet { _$objectModel.insertionSlots(ofClassAt: classPlace) }

  /// The description of the record's properties.
  public var entity: EntityDescription { _$objectModel.entity }

  public func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    let slotCount = _$objectModel.slotCount
    if property >= slotCount {
      // A record in a context keeps no members, and a record in no context has none.
      var members = ToManyMembers<ManagedRecord>()
      visitor.visit(toMany: property - slotCount, &members)
    } else if _$objectModel.visitedProperties[property].isRelationship {
      var reference = ToOneReference<ManagedRecord>()
      if case .reference(let number) = values[property] { reference.number = number }
      visitor.visit(toOne: property, &reference)
      values[property] = reference.number.isNone ? .null : .reference(reference.number)
    } else {
      var cache = Cached(RecordValue(values[property]))
      visitor.visit(attribute: property, &cache)
      values[property] = cache.value._attributeValue
    }
  }

  /// Returns the value of an attribute's slot; `null` if it can't be read: the context then keeps the error.
  func value(at slot: Int) -> AttributeValue {
    if _$state.isLoaded(slot) {
      noteReading(.slot(slot))
      return values[slot]
    }
    var cache = Cached<RecordValue>()
    let value = _$load(slot, &cache)._attributeValue
    if let loaded = cache.stored { values[slot] = loaded._attributeValue }
    return value
  }

  /// Sets an attribute to a value that was checked.
  func setValue(_ value: AttributeValue, at slot: Int) {
    _$willSet(slot)
    values[slot] = value
  }
}

@available(*, unavailable, message: "a record stays in its context; send its objectID instead")
extension ManagedRecord: Sendable {}
