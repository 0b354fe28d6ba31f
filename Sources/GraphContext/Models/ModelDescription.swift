import Predicates

/// The data that is computed once for each model class.
public final class ModelDescription: Sendable {
  /// The entity as the class declares it: inverses are named at one end only. A ``Schema`` completes them.
  public let entity: EntityDescription
  /// The layout of records in a store that was made with the properties in this order.
  public let layout: RecordLayout
  /// The number of attributes and to-one relationships.
  let slotCount: Int
  /// The names of the visited properties: slots first, then to-many relationships.
  let visitedNames: [String]
  /// The descriptions of the visited properties, in the same order.
  let visitedProperties: [PropertyDescription]
  /// The closures that make the values of new objects, by slot.
  let insertionDefaults: [Int: @Sendable () -> any AttributeType]
  /// Bits of the slots that have such a closure. In a hierarchy these are the slots of all classes, so an object may
  /// lack some of them.
  public let _$insertionSlots: UInt64
  /// Such slots of each class in a hierarchy, inherited ones included, by the class's position. Without a hierarchy,
  /// those of the one class.
  private let insertionSlotsOfClasses: [SlotSet]
  /// The positions of the classes of a hierarchy.
  private let placesOfClasses: [ObjectIdentifier: Int]
  /// The positions of the visited properties, by name.
  private let places: [String: Int]
  /// The positions of the relationships among the visited properties.
  let relationshipProperties: [Int]
  /// The problems of the class, a sentence each. A schema refuses a class with problems.
  let problems: [String]
  /// The slots of the parts of each embedded value.
  private let embeddedSlots: [Range<Int>]
  /// The names of the properties with embedded values.
  private let embeddedNames: [String]
  /// The classes of a hierarchy, the root first; empty where no class inherits from another.
  let classes: [ModelClass]

  /// Makes a description. With more than ``ObjectState/maximumSlotCount`` attributes and to-one relationships, no
  /// container takes the model.
  ///
  /// - Parameters:
  ///   - declared: the properties, without those that have embedded values.
  ///   - embedded: the properties with embedded values. Their slots come behind all others, in this order.
  public convenience init(_ declared: EntityDescription, embedding embedded: [EmbeddedDescription] = []) {
    self.init(declared.embedding(embedded), embedded: embedded, problems: [])
  }

  /// Makes the description that a root and its subclasses share.
  public convenience init(_ root: ModelClass) {
    let classes = root.withDescendants().map(\.class)
    self.init(root.entity, embedded: classes.flatMap(\.embedded), classes: classes, problems: [])
  }

  /// - Parameters:
  ///   - entity: all properties, the parts of each embedded value one after the other.
  ///   - embedded: the properties with embedded values; in a hierarchy, those of a class come before those of its
  ///     subclasses.
  init(
    _ entity: EntityDescription,
    embedded: [EmbeddedDescription] = [],
    classes: [ModelClass] = [],
    problems: [String]
  ) {
    self.classes = classes
    self.problems = problems
    self.entity = entity
    let stored = entity.storedProperties
    embeddedNames = embedded.map(\.name)
    embeddedSlots = embedded.map { value in
      let first = stored.firstIndex { $0.name == value.attributes.first?.name } ?? stored.endIndex
      return first..<first + value.attributes.count
    }
    layout = RecordLayout(kinds: stored.map(\.storedKind))
    slotCount = stored.count
    // Objects have no caches for hidden inverses, which come last.
    let visited = stored + entity.properties.filter { $0.isToMany && !$0.isHiddenInverse }
    visitedNames = visited.map(\.name)
    visitedProperties = visited
    places = Dictionary(visited.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let insertionDefaults: [Int: @Sendable () -> any AttributeType] = Dictionary(
      uniqueKeysWithValues: stored.enumerated().compactMap { slot, property in
        guard case .attribute(let attribute) = property else { return nil }
        return attribute.insertionDefault.map { (slot, $0) }
      }
    )
    self.insertionDefaults = insertionDefaults
    _$insertionSlots = SlotSet(insertionDefaults.keys).rawValue
    let ofClasses = entity.classes.map { member in
      SlotSet(insertionDefaults.keys.filter { entity.hasProperty(stored[$0].name, member) })
    }
    insertionSlotsOfClasses = ofClasses.isEmpty ? [SlotSet(rawValue: _$insertionSlots)] : ofClasses
    placesOfClasses = Dictionary(
      classes.enumerated().map { (ObjectIdentifier($1.type), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    relationshipProperties = visited.indices.filter { visited[$0].isRelationship }
  }

  /// Returns the position of the property of this name among the visited properties. O(1).
  func place(of name: String) -> Int? { places[name] }

  /// Returns the slots that get values by the insertion of an object of a class. O(1).
  func insertionSlots(of type: any ManagedObject.Type) -> SlotSet {
    insertionSlots(ofClassAt: placesOfClasses[ObjectIdentifier(type)] ?? 0)
  }

  /// Returns the slots that get values by the insertion of an object of the class at a position among the
  /// entity's classes. The position is 0 where no class inherits from another.
  func insertionSlots(ofClassAt place: Int) -> SlotSet { insertionSlotsOfClasses[place] }

  /// Returns the slot of the first part of an embedded value.
  func firstSlot(ofEmbedded ordinal: Int) -> Int { embeddedSlots[ordinal].lowerBound }

  /// Returns the name of a property with an embedded value.
  func embeddedName(_ ordinal: Int) -> String { embeddedNames[ordinal] }

  /// Returns the name of the part at a slot, without the name of the property; empty for the part that says whether an
  /// optional value is there.
  func partName(at slot: Int) -> String {
    guard let part = _$embeddedPart(at: slot) else { return visitedNames[slot] }
    return String(visitedNames[slot].dropFirst(embeddedNames[part.ordinal].count + 1))
  }

  /// Returns the ordinal of the embedded value that has a part at a slot, and the number of the part; nil for another
  /// property.
  public func _$embeddedPart(at slot: Int) -> (ordinal: Int, part: Int)? {
    embeddedSlots.firstIndex { $0.contains(slot) }.map { ($0, slot - embeddedSlots[$0].lowerBound) }
  }

  /// Returns the position of a to-many relationship among the visited properties.
  public func _$place(ofToMany ordinal: Int) -> Int { slotCount + ordinal }

  /// Returns the properties that one of the classes declares itself. Traps for a class that its parent doesn't name.
  /// O(properties).
  public func ownProperties(of type: any ManagedObject.Type) -> OwnProperties {
    guard let member = classes.first(where: { $0.type == type }) else {
      fatalError("\(type) isn't among the subclasses that its superclass names")
    }
    let declared = member.declared.properties
    let visited = declared.filter { !$0.isToMany && !$0.isPlace } + declared.filter(\.isPlace)
    let names = (visited + declared.filter(\.isToMany)).map(\.name)
    let firstEmbedded = classes.prefix { $0.type != type }.reduce(0) { $0 + $1.embedded.count }
    return OwnProperties(
      names.compactMap { places[$0] },
      count: visitedNames.count,
      slotCount: slotCount,
      parts: Array(embeddedSlots[firstEmbedded...].prefix(member.embedded.count)),
      firstEmbedded: firstEmbedded
    )
  }
}

extension PropertyDescription {
  /// The form of the value in a record: a to-one relationship is a reference.
  var storedKind: AttributeKind {
    switch self {
    case .attribute(let attribute): attribute.kind
    case .relationship: .reference
    }
  }
}
