import Predicates

/// What is worked out once for each model class.
public final class ModelDescription: Sendable {
  /// As the class declares it: inverses are named at one end only. A ``Schema`` completes them.
  public let entity: EntityDescription
  /// Where the values lie in a record of a store that was made with the properties in this order.
  public let layout: RecordLayout
  /// How many attributes and to-one relationships there are.
  package let slotCount: Int
  /// Slots first, then to-many relationships.
  package let visitedNames: [String]
  /// The same, described.
  let visitedProperties: [PropertyDescription]
  /// What makes the values that new objects begin with, by slot.
  let insertionDefaults: [Int: @Sendable () -> any AttributeType]
  /// The places of the visited properties, by name.
  private let places: [String: Int]
  /// The relationships among the visited properties, by their place there.
  package let relationshipProperties: [Int]

  /// With more than ``ObjectState/maximumSlotCount`` attributes and to-one relationships, no container takes the model.
  public init(_ entity: EntityDescription) {
    self.entity = entity
    let stored = entity.storedProperties
    layout = RecordLayout(kinds: stored.map(\.storedKind))
    slotCount = stored.count
    let visited = stored + entity.properties.filter(\.isToMany)
    visitedNames = visited.map(\.name)
    visitedProperties = visited
    places = Dictionary(visited.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    insertionDefaults = Dictionary(
      uniqueKeysWithValues: stored.enumerated().compactMap { slot, property in
        guard case .attribute(let attribute) = property else { return nil }
        return attribute.insertionDefault.map { (slot, $0) }
      }
    )
    relationshipProperties = visited.indices.filter { visited[$0].isRelationship }
  }

  /// The place among the visited properties of the one with this name. O(1).
  func place(of name: String) -> Int? { places[name] }
}

extension PropertyDescription {
  /// How the value lies in a record: a to-one relationship is a reference.
  package var storedKind: AttributeKind {
    switch self {
    case .attribute(let attribute): attribute.kind
    case .relationship: .reference
    }
  }
}
