import Predicates

/// Links from or to objects whose deletion isn't saved yet, that were made after it: the save that finds one fails.
///
/// A reference to a deleted object is found by the save anyway. What a deleted object leads to isn't saved, and neither are pairs of which one
/// end is deleted; those links are remembered here, so that none is lost without a word.
struct DeletedLinks {
  private struct Link: Hashable {
    let entity: Int
    let property: String
    let source: UInt64
    /// 0 where the property leads to one object.
    let element: UInt64
  }
  private var errors: [Link: ContextError] = [:]

  /// The error of one of the links; nil if there are none.
  var first: ContextError? { errors.values.first }

  mutating func note(
    _ entity: StoredEntity,
    _ property: String,
    of source: ManagedObjectID,
    element: UInt64 = 0,
    to target: ManagedObjectID
  ) {
    let link = Link(entity: entity.ordinal, property: property, source: source.number, element: element)
    errors[link] = ContextError(
      .missingDestination,
      "\(source.entityName) \(source.number) is linked by \(property) to \(target.entityName) \(target.number), and one of them is deleted",
      context: .init(entity: entity.name, objectID: source, otherID: target, properties: [property])
    )
  }

  /// The link is there no longer.
  mutating func forget(_ entity: StoredEntity, _ property: String, of source: UInt64, element: UInt64 = 0) {
    if errors.isEmpty { return }
    errors[Link(entity: entity.ordinal, property: property, source: source, element: element)] = nil
  }

  mutating func removeAll() { errors = [:] }
}
