import Predicates

/// The data that is computed once for each model class.
public final class ModelDescription: Sendable {
  /// As the class declares it: inverses are named at one end only. A ``Schema`` completes them.
  public let entity: EntityDescription
  /// The layout of records in a store that was made with the properties in this order.
  public let layout: RecordLayout
  /// How many attributes and to-one relationships there are.
  package let slotCount: Int
  /// Slots first, then to-many relationships.
  package let visitedNames: [String]
  /// The descriptions of the visited properties, in the same order.
  let visitedProperties: [PropertyDescription]
  /// The closures that make the values of new objects, by slot.
  let insertionDefaults: [Int: @Sendable () -> any AttributeType]
  /// Bits of the slots that have such a closure. In a hierarchy these are the slots of all classes, so an object may
  /// lack some of them.
  public let _$insertionSlots: UInt64
  /// Such bits of each class in a hierarchy, inherited ones included, by the class's place. Without a hierarchy, the
  /// bits of the one class.
  private let insertionSlotsOfClasses: [UInt64]
  /// The places of the classes of a hierarchy.
  private let placesOfClasses: [ObjectIdentifier: Int]
  /// The places of the visited properties, by name.
  private let places: [String: Int]
  /// The relationships among the visited properties, by their place there.
  package let relationshipProperties: [Int]
  /// The problems of the class, a sentence each. A schema refuses a class with problems.
  let problems: [String]
  /// The slots of the parts of each embedded value.
  private let embeddedSlots: [Range<Int>]
  /// The names of the properties with embedded values.
  private let embeddedNames: [String]
  /// The classes of a hierarchy, the root first; empty where no class inherits from another.
  let classes: [ModelClass]

  /// With more than ``ObjectState/maximumSlotCount`` attributes and to-one relationships, no container takes the model.
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
    _$insertionSlots = insertionDefaults.keys.reduce(0) { $0 | 1 &<< UInt64($1) }
    let ofClasses = entity.classes.map { member in
      insertionDefaults.keys.filter { entity.hasProperty(stored[$0].name, member) }
        .reduce(UInt64(0)) { $0 | 1 &<< UInt64($1) }
    }
    insertionSlotsOfClasses = ofClasses.isEmpty ? [_$insertionSlots] : ofClasses
    placesOfClasses = Dictionary(
      classes.enumerated().map { (ObjectIdentifier($1.type), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    relationshipProperties = visited.indices.filter { visited[$0].isRelationship }
  }

  /// The place among the visited properties of the one with this name. O(1).
  func place(of name: String) -> Int? { places[name] }

  /// Bits of the slots that get values by the insertion of an object of a class. O(1).
  func insertionSlots(of type: any ManagedObject.Type) -> UInt64 {
    insertionSlots(ofClassAt: placesOfClasses[ObjectIdentifier(type)] ?? 0)
  }

  /// The same of the class at a place among the entity's classes; 0 where no class inherits from another.
  func insertionSlots(ofClassAt place: Int) -> UInt64 { insertionSlotsOfClasses[place] }

  /// The slot of the first part of an embedded value.
  func firstSlot(ofEmbedded ordinal: Int) -> Int { embeddedSlots[ordinal].lowerBound }

  /// The name of a property with an embedded value.
  func embeddedName(_ ordinal: Int) -> String { embeddedNames[ordinal] }

  /// The name of the part at a slot, without the name of the property; empty for the part that says whether an optional
  /// value is there.
  func partName(at slot: Int) -> String {
    guard let part = _$embeddedPart(at: slot) else { return visitedNames[slot] }
    return String(visitedNames[slot].dropFirst(embeddedNames[part.ordinal].count + 1))
  }

  /// Which part of which embedded value lies at a slot; nil for another property.
  public func _$embeddedPart(at slot: Int) -> (ordinal: Int, part: Int)? {
    embeddedSlots.firstIndex { $0.contains(slot) }.map { ($0, slot - embeddedSlots[$0].lowerBound) }
  }

  /// The place of a to-many relationship among the visited properties.
  public func _$place(ofToMany ordinal: Int) -> Int { slotCount + ordinal }

  /// The properties that one of the classes declares itself. Traps for a class that its parent doesn't name.
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
  package var storedKind: AttributeKind {
    switch self {
    case .attribute(let attribute): attribute.kind
    case .relationship: .reference
    }
  }
}
