import Predicates

/// An operation on the caches of an object, whatever their types: encode, compare, set by name.
///
/// The object's state says which slots hold a value. A visitor that fills a cache updates that state.
public protocol PropertyVisitor {
  /// Takes the cache of the attribute at `slot`.
  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>)
  /// Takes the cache of the to-one relationship at `slot`.
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>)
  /// Takes the cache of a to-many relationship; `relationship` counts those of the model from 0.
  mutating func visit<Target: ManagedObject>(toMany relationship: Int, _ cache: inout ToManyMembers<Target>)
}
