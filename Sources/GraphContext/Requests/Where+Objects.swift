import Foundation
import Predicates

extension Where where Root: ManagedObject {
  /// Returns whether the condition holds for an object, in a context or in none, as a query over it would decide.
  ///
  /// The object's values are those that it has now, unsaved ones too; relationships are followed in its context, or to
  /// the objects that it was given. Names are looked up in the model and the models that it leads to. For many objects,
  /// `filter(matching:)` looks the names up once.
  ///
  /// - Throws: `QueryError`, the first mistake in the condition.
  public func evaluate(_ object: Root) throws(QueryError) -> Bool {
    var condition = try ObjectCondition(self)
    return try condition.holds(for: object)
  }
}

extension Sequence where Element: ManagedObject {
  /// Returns the objects for which the condition holds, in their order; see `Where.evaluate(_:)`. The objects may be in
  /// a context, in several, or in none. Names are looked up, and patterns compiled, once for all objects. O(elements).
  ///
  /// - Throws: `QueryError`, the first mistake in the condition, even if there are no objects.
  public func filter(matching condition: Where<Element>) throws(QueryError) -> [Element] {
    var condition = try ObjectCondition(condition)
    var matches: [Element] = []
    for object in self where try condition.holds(for: object) { matches.append(object) }
    return matches
  }
}

/// A condition whose names were found in the model, and whose lists and patterns are ready, to be tested on one object
/// after the other.
private struct ObjectCondition<Root: ManagedObject> {
  private let tree: PredicateTree
  private let schema: Schema
  private let entity: EntitySchema
  /// The store that the last object is in. `predicate` is for objects of this store, because the numbers of the objects
  /// that the condition names have a meaning only there.
  private var store: UUID?
  private var predicate: SubjectCondition

  init(_ condition: Where<Root>) throws(QueryError) {
    tree = try condition.tree
    schema = try ModelReach.schema(of: Root.self)
    guard let entity = schema.entitySchema(named: Root.entityName) else {
      throw QueryError(.unknownName, "The model \(Root.entityName) describes an entity of another name.")
    }
    self.entity = entity
    predicate = SubjectCondition(try tree.resolved(for: entity, in: schema))
  }

  mutating func holds(for object: Root) throws(QueryError) -> Bool {
    let store = object._$state.storeID
    if store != self.store {
      let (schema, entity) = Self.known(by: object) ?? (self.schema, self.entity)
      predicate = SubjectCondition(try tree.resolved(for: entity, in: schema, store: store))
      self.store = store
    }
    return predicate.matches(ObjectSubject(object))
  }

  /// Returns the schema of the store that an object is in: its class tags are those in the numbers of the store's
  /// objects. Nil where there are no class tags.
  private static func known(by object: Root) -> (Schema, EntitySchema)? {
    guard let context = object._$state.host as? ManagedObjectContext,
      context.coordinator.models.hasHierarchies,
      let entity = context.coordinator.models.entity(of: Root.self)
    else { return nil }
    let stored = context.coordinator.schema
    return (stored.schema, stored.entitySchema(of: Root.self, entity))
  }
}
