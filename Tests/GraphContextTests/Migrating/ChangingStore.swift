import Foundation
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// A store in a file that is opened with one schema after the other, without classes.
struct ChangingStore {
  private let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("changing.cambium"))
  }

  /// Opens the store with these entities, verifies it, runs the body, and verifies it again.
  @discardableResult
  func open<Result>(
    _ entities: EntityDescription...,
    body: (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await open(Schema(entities: entities), body: body)
  }

  @discardableResult
  func open<Result>(
    _ schema: Schema,
    chunkByteCount: Int? = nil,
    body: (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let container = try await PersistentContainer(
      "Changing",
      stagedModels(schema),
      at: .file(url),
      ContainerOpening(monitor: MigrationMonitor(chunkByteCount: chunkByteCount))
    )
    #expect(try await container.verify().map(\.description) == [])
    let context = try container.context()
    let result = try body(context)
    try context.save()
    context.end()
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    return result
  }

  /// The error of a schema that is refused. The file is the same afterwards.
  func refusal(
    of entities: EntityDescription...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws -> ContextError {
    try await refusal(of: entities, sourceLocation: sourceLocation)
  }

  func refusal(
    of entities: [EntityDescription],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws -> ContextError {
    let before = try Data(contentsOf: url)
    let schema = try Schema(entities: entities)
    let error = await #expect(throws: ContextError.self, sourceLocation: sourceLocation) {
      try await PersistentContainer("Changing", schema: schema, at: url)
    }
    #expect(try Data(contentsOf: url) == before, sourceLocation: sourceLocation)
    return try #require(error, sourceLocation: sourceLocation)
  }
}

// MARK: - Shorthands

func entity(
  _ name: String,
  was originalName: String? = nil,
  _ properties: [PropertyDescription],
  indexes: [IndexDescription] = []
) -> EntityDescription {
  EntityDescription(name: name, properties: properties, indexes: indexes, originalName: originalName)
}

func attribute(
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

func link(
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
  func make(_ entity: String, _ values: [String: AttributeValue]) throws -> ManagedRecord {
    let record = try insert(entity: entity)
    for (name, value) in values { try record.set(name, to: value) }
    return record
  }

  /// The values of an attribute, in the order of the objects' numbers.
  func values(_ entity: String, _ attribute: String) throws -> [AttributeValue] {
    try fetch(DynamicQuery(entity)).map { try $0[attribute] }
  }

  /// The numbers of the objects for which a condition holds.
  func numbers(
    _ entity: String,
    _ condition: String = "TRUEPREDICATE",
    sortedBy key: String? = nil
  ) throws -> [UInt64] {
    let condition = try PredicateTree(format: condition)
    let sort = key.map { [DynamicQuery.SortKey($0)] } ?? []
    return try fetch(DynamicQuery(entity, where: condition, sort: sort)).map(\.objectID.number.rawValue)
  }

  /// The values of an attribute of the objects that a relationship leads to, by the objects' numbers.
  func linked(_ entity: String, _ relationship: String, _ attribute: String) throws -> [[AttributeValue]] {
    try fetch(DynamicQuery(entity)).map { record in
      let isToMany = record.entity.property(named: relationship)?.isToMany == true
      let objects =
        try isToMany ? record.objects(relationship) : [record.object(relationship)].compactMap(\.self)
      return try objects.map { try $0[attribute] }.sorted { "\($0)" < "\($1)" }
    }
  }

  /// The layouts of an entity's records, and the commits that changed them, in the order of their numbers.
  func headers(_ entity: String) throws -> [(layout: UInt32?, commit: UInt64)] {
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
