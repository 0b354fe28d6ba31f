import Foundation
import Predicates

/// A property of new objects, and the closure that computes its value from a row, for
/// ``PersistentContainer/batchInsert(_:from:_:chunkSize:ifExists:durability:author:)``.
public struct BatchColumn<Root: ManagedObject, Row>: Sendable {
  private let names: Result<[String], QueryError>
  private let value: @Sendable (Row) -> ColumnValue

  /// Fills an attribute: `.set(\.title) { $0.name }`.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    _ value: @escaping @Sendable (Row) -> Value
  ) -> BatchColumn {
    BatchColumn(names: Root.names(of: attribute)) { .attribute(value($0)._attributeValue) }
  }

  /// Fills a to-one relationship, with the ID of a stored object or nil: `.set(\.album) { $0.albumID }`.
  public static func set<Target: ManagedObject>(
    _ relationship: KeyPath<Root, Target?>,
    _ id: @escaping @Sendable (Row) -> ManagedObjectID?
  ) -> BatchColumn {
    BatchColumn(names: Root.names(of: relationship)) { .object(id($0)) }
  }

  /// Fills a required to-one relationship.
  public static func set<Target: ManagedObject>(
    _ relationship: KeyPath<Root, Target>,
    _ id: @escaping @Sendable (Row) -> ManagedObjectID
  ) -> BatchColumn {
    BatchColumn(names: Root.names(of: relationship)) { .object(id($0)) }
  }

  init(
    names: Result<[String], QueryError>,
    _ value: @escaping @Sendable (Row) -> ColumnValue
  ) {
    self.names = names
    self.value = value
  }

  func resolved(for entity: StoredEntity, in schema: Schema) throws(QueryError) -> ResolvedColumn<Row> {
    let path = try PathResolver(entity: entity.schema, schema: schema).resolve(names.get()).path
    guard let slot = path.hops.isEmpty ? path.slotOfObject : nil else {
      throw QueryError(
        .keyPath,
        "\(path.name) is no attribute or to-one relationship of \(entity.name): a batch sets nothing else"
      )
    }
    try schema.checkSettable(path.name, of: entity.name)
    let toOne = entity.toOne(slot: slot)
    if case .toOne? = toOne?.inverse {
      throw QueryError(
        .keyPath,
        "\(path.name) is one to one: a batch insertion can't change the object at its other end"
      )
    }
    return ResolvedColumn(slot: slot, destination: toOne?.destination, value: value)
  }
}

/// The value that a column computes from a row.
enum ColumnValue: Sendable, Hashable {
  case attribute(AttributeValue)
  case object(ManagedObjectID?)
}

/// A column whose names are found in the schema.
struct ResolvedColumn<Row>: Sendable {
  let slot: Int
  /// The ordinal of the entity that a relationship leads to.
  let destination: Int?
  let value: @Sendable (Row) -> ColumnValue
}

extension ResolvedPath {
  fileprivate var slotOfObject: Int? {
    if case .slot(let slot, _) = leaf { slot } else { nil }
  }
}
