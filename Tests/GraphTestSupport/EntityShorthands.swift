import PageStore
import Predicates
import Testing

@testable import GraphContext

// Entities without classes in few words, and records of them.

package func entity(
  _ name: String,
  was originalName: String? = nil,
  _ properties: [PropertyDescription],
  indexes: [IndexDescription] = []
) -> EntityDescription {
  EntityDescription(name: name, properties: properties, indexes: indexes, originalName: originalName)
}

package func attribute(
  _ name: String,
  _ kind: AttributeKind,
  optional: Bool = false,
  default value: AttributeValue? = nil,
  was originalName: String? = nil
) -> PropertyDescription {
  .attribute(
    AttributeDescription(
      name: name,
      kind: kind,
      isOptional: optional,
      defaultValue: value,
      originalName: originalName
    )
  )
}

package func link(
  _ name: String,
  to destination: String,
  _ cardinality: RelationshipDescription.Cardinality = .optional,
  inverse: String? = nil,
  rule: DeleteRule = .nullify,
  was originalName: String? = nil
) -> PropertyDescription {
  .relationship(
    RelationshipDescription(
      name: name,
      destination: destination,
      cardinality: cardinality,
      inverse: inverse,
      deleteRule: rule,
      originalName: originalName
    )
  )
}

extension ManagedObjectContext {
  /// Makes a record with these values.
  @discardableResult
  package func make(_ entity: String, _ values: [String: AttributeValue]) throws -> ManagedRecord {
    let record = try insert(entity: entity)
    for (name, value) in values { try record.set(name, to: value) }
    return record
  }

  /// The values of an attribute, in the order of the objects' numbers.
  package func values(_ entity: String, _ attribute: String) throws -> [AttributeValue] {
    try fetch(DynamicQuery(entity)).map { try $0[attribute] }
  }

  /// The numbers of the objects for which a condition holds.
  package func numbers(
    _ entity: String,
    _ condition: String = "TRUEPREDICATE",
    sortedBy key: String? = nil
  ) throws -> [UInt64] {
    let condition = try PredicateTree(format: condition)
    let sort = key.map { [DynamicQuery.SortKey($0)] } ?? []
    return try fetch(DynamicQuery(entity, where: condition, sort: sort)).map(\.objectID.number.rawValue)
  }

  /// The values of an attribute of the objects that a relationship leads to, by the objects' numbers.
  package func linked(
    _ entity: String,
    _ relationship: String,
    _ attribute: String
  ) throws -> [[AttributeValue]] {
    try fetch(DynamicQuery(entity)).map { record in
      let isToMany = record.entity.property(named: relationship)?.isToMany == true
      let objects =
        try isToMany ? record.objects(relationship) : [record.object(relationship)].compactMap(\.self)
      return try objects.map { try $0[attribute] }.sorted { "\($0)" < "\($1)" }
    }
  }

  /// The layouts of an entity's records, and the commits that changed them, in the order of their numbers.
  package func headers(_ entity: String) throws -> [(layout: UInt32?, commit: UInt64)] {
    let entity = try #require(coordinator.schema.entity(named: entity))
    guard var cursor = try newestView().snapshot.treeIfPresent(entity.treeName)?.cursor() else {
      return []
    }
    var headers: [(UInt32?, UInt64)] = []
    while try cursor.next() {
      let bytes = try cursor.value()
      let commit = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      headers.append((RecordLayout.number(of: bytes), commit))
    }
    return headers
  }
}
