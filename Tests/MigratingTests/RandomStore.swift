import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
@_spi(Testing) import TestSupport
import Testing

@testable import GraphContext

/// A store whose schema and objects change at random, beside an oracle with the expected contents.
struct RandomStore {
  private let store: Store
  private(set) var random: RandomSchema
  private(set) var coverage = ChangeCoverage()
  /// A few rows.
  fileprivate static let chunkByteCount = 200
  /// Whether all records are brought to the newest layout after each change.
  private let upgradesRecords: Bool

  init(_ generator: SeededGenerator, upgradesRecords: Bool = false) throws {
    // The store writes only when the test acts. Work that the store defers is dropped.
    store = try Store.open(
      file: SimulatedDisk(),
      path: "random",
      options: StoreOptions(),
      environment: .simulated(seed: generator.seed)
    )
    self.upgradesRecords = upgradesRecords
    random = RandomSchema(generator)
    try open { container, random in try random.edit(container) }
    random.didStore()
  }

  /// Opens the store with a changed schema, and compares.
  mutating func change() throws {
    let before = random.draft
    random.change()
    coverage.note(before, random.draft, random.oracle)
    try open { [upgradesRecords] container, random in
      try random.check(container)
      if upgradesRecords { try random.upgrade(container) }
    }
    random.didStore()
  }

  /// Changes some objects.
  mutating func edit() throws { try open { container, random in try random.edit(container) } }

  /// Has every record written, and compares.
  mutating func rewrite() throws { try open { container, random in try random.rewrite(container) } }

  /// Tries to open the store with a schema that the store has to refuse, and checks that nothing was written. Returns
  /// false if there was no such schema.
  mutating func refuse() throws -> Bool {
    var trial = random
    let isBroken = trial.breakOnce()
    random.values = trial.values
    guard isBroken, let schema = try? trial.draft.schema() else { return false }
    let before = try store.statistics
    let models = ContainerModels(classes: [], others: .schema(schema))
    let error = #expect(throws: ContextError.self) {
      try PersistentContainer("Random", models, on: store)
    }
    #expect(error?.refusal?.isEmpty == false)
    let after = try store.statistics
    #expect(after.bytesWritten == before.bytesWritten && after.lastCommit == before.lastCommit)
    return true
  }

  private mutating func open(_ body: (PersistentContainer, inout RandomSchema) throws -> Void) throws {
    let schema = try random.draft.schema()
    let models = ContainerModels(classes: [], others: .schema(schema))
    let monitor = MigrationMonitor(chunkByteCount: Self.chunkByteCount)
    let container = try PersistentContainer("Random", models, on: store, ContainerOpening(monitor: monitor))
    try body(container, &random)
    let problems = try container.verify().map(\.description)
    try #require(problems == [])
  }
}

// MARK: - Comparing

/// An expected line that the store does not show, and the line that it shows instead.
private struct Difference: Error, CustomStringConvertible {
  let lacking: [String]
  let extra: [String]
  var description: String { "the store lacks \(lacking.prefix(5)) and has \(extra.prefix(5))" }
}

extension RandomSchema {
  mutating func check(_ container: PersistentContainer) throws {
    let context = try container.context()
    defer { context.end() }
    let (found, expected) = (try dump(context), oracle.dump(draft))
    if found != expected {
      let (lacking, extra) = (Set(expected).subtracting(found), Set(found).subtracting(expected))
      throw Difference(lacking: lacking.sorted(), extra: extra.sorted())
    }
    for place in draft.entities.indices { try checkQueries(draft.entities[place], context) }
  }

  private func dump(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for entity in draft.entities {
      for record in try context.fetch(DynamicQuery(entity.name)) {
        let number = record.objectID.number.rawValue
        lines.append("\(entity.name) \(number) is a \(record.objectID.entityName)")
        for property in entity.properties {
          lines.append("\(entity.name) \(number) \(property.name) \(try text(property, of: record))")
        }
      }
    }
    return lines.sorted()
  }

  private func text(_ property: Draft.Property, of record: ManagedRecord) throws -> String {
    guard let relationship = property.relationship else {
      return GraphOracle.text(try record[property.name])
    }
    let objects =
      try relationship.isToMany
      ? record.objects(property.name) : [record.object(property.name)].compactMap(\.self)
    let numbers = objects.map(\.objectID.number.rawValue)
    return "\(relationship.isOrdered && relationship.isToMany ? numbers : numbers.sorted())"
  }

  /// Compares, for an attribute of the entity whose values compare as they are stored, a condition and an order with the oracle's.
  private mutating func checkQueries(_ entity: Draft.Entity, _ context: ManagedObjectContext) throws {
    let numbers = oracle.numbers(of: entity.key)
    for property in entity.properties {
      guard let kind = property.attribute?.kind, kind.isInteger || kind == .uuid || kind == .decimal else {
        continue
      }
      let values = numbers.map { oracle.shown(property, of: $0, entity.key, in: draft) }
      if let value = values.first(where: Self.isOrdinary) {
        let condition = PredicateTree.comparison(.path([property.name]), .equal, .value(value), [])
        let found = try context.fetch(DynamicQuery(entity.name, where: condition)).map(
          \.objectID.number.rawValue
        )
        try #require(found == zip(numbers, values).filter { $1 == value }.map(\.0))
      }
      guard kind.isInteger, kind != .uint64 else { continue }
      let sorted = try context.fetch(DynamicQuery(entity.name, sort: [.init(property.name)]))
      let expected = zip(numbers, values).sorted { left, right in
        left.1 == right.1 ? left.0 < right.0 : Self.isLess(left.1, right.1)
      }
      try #require(sorted.map(\.objectID.number.rawValue) == expected.map(\.0))
    }
  }

  private static func isOrdinary(_ value: AttributeValue) -> Bool {
    if case .decimal(let decimal) = value { return !decimal.isNaN }
    return !value.isNull
  }

  /// Nil comes first.
  private static func isLess(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.int(let left), .int(let right)): left < right
    case (.null, .int): true
    default: false
    }
  }
}

extension Draft.Entity {
  /// Whether objects of a class can have a value of a property that programs set.
  ///
  /// - Parameter member: the key of the class; nil for the root.
  fileprivate func canSet(_ property: Draft.Property, in member: Int?) -> Bool {
    !property.isDerived && isClass(member, property.classKey)
  }
}

// MARK: - Editing

extension RandomSchema {
  /// Inserts, changes, links and deletes some objects, saves, and compares.
  mutating func edit(_ container: PersistentContainer) throws {
    do {
      let context = try container.context()
      defer { context.end() }
      for place in draft.entities.indices {
        for _ in 0..<generatorNumber(0...5) { try insert(draft.entities[place], context) }
      }
      for place in draft.entities.indices { try changeSome(draft.entities[place], context) }
      try linkSome(context)
      for place in draft.entities.indices { try deleteOne(draft.entities[place], context) }
      try context.save()
    }
    try check(container)
  }

  private func record(
    _ number: UInt64,
    _ entity: Draft.Entity,
    _ context: ManagedObjectContext
  ) throws
    -> ManagedRecord
  {
    let number = ObjectNumber(rawValue: number)
    return try context.existingObject(
      ManagedRecord.self,
      with: ManagedObjectID(entityName: entity.name, number: number, storeID: context.storeID)
    )
  }

  private mutating func insert(_ entity: Draft.Entity, _ context: ManagedObjectContext) throws {
    let required = entity.properties.filter { $0.relationship?.cardinality == .required }
    for property in required {
      guard let relationship = property.relationship,
        relationship.destination != entity.key,
        relationship.inverse.map({ draft.relationship($0).isToMany }) ?? true,
        !oracle.destinations(of: relationship, in: draft).isEmpty
      else { return }
    }
    let member = chance(2, in: 3) ? entity.classes.randomElement(using: &values.generator) : nil
    let record = try context.insert(entity: member?.name ?? entity.name)
    let number = record.objectID.number.rawValue
    oracle.rows[entity.key, default: [:]][number] = [:]
    oracle.classes[entity.key, default: [:]][number] = member?.key
    let properties = entity.properties.filter(\.isFlag) + entity.properties.filter { !$0.isFlag }
    for property in properties where entity.canSet(property, in: member?.key) {
      if property.attribute != nil {
        let value = value(of: property, number, entity)
        oracle.rows[entity.key]?[number]?[property.key] = value
      } else if let relationship = property.relationship, relationship.cardinality == .required {
        let target = values.generator.pick(oracle.destinations(of: relationship, in: draft))
        oracle.connect(property.key, .init(from: number, to: target), in: draft)
      }
    }
    // If a value has to be unique and isn't, the object isn't made.
    guard oracle.fits(draft) else {
      for property in required { oracle.disconnectAll(property.key, from: number, in: draft) }
      oracle.rows[entity.key]?[number] = nil
      return context.delete(record)
    }
    for property in entity.properties where entity.canSet(property, in: member?.key) {
      if property.attribute != nil {
        try record.set(property.name, to: oracle.value(property.key, of: number, entity.key))
      } else if let relationship = property.relationship, relationship.cardinality == .required,
        let target = oracle.targets(of: number, property.key).first
      {
        let destination = draft.entities[draft.entityPlace(relationship.destination)]
        try record.setObject(property.name, to: self.record(target, destination, context))
      }
    }
  }

  private mutating func changeSome(_ entity: Draft.Entity, _ context: ManagedObjectContext) throws {
    for number in oracle.numbers(of: entity.key) where chance(1, in: 3) {
      let property = values.generator.pick(entity.properties)
      guard property.attribute != nil, entity.canSet(property, in: oracle.classes[entity.key]?[number]) else {
        continue
      }
      let known = oracle
      let properties = entity.propertiesSet(with: property)
      for property in properties {
        let value = value(of: property, number, entity)
        oracle.rows[entity.key]?[number]?[property.key] = value
      }
      guard oracle.fits(draft) else {
        oracle = known
        continue
      }
      for property in properties {
        let value = oracle.value(property.key, of: number, entity.key)
        try record(number, entity, context).set(property.name, to: value)
      }
    }
  }

  private mutating func linkSome(_ context: ManagedObjectContext) throws {
    for entity in draft.entities {
      for property in entity.properties {
        guard let relationship = property.relationship else { continue }
        for number in oracle.numbers(of: entity.key) where chance(1, in: 2) {
          guard entity.canSet(property, in: oracle.classes[entity.key]?[number]) else { continue }
          try link(number, entity, property, relationship, context)
        }
      }
    }
  }

  private mutating func link(
    _ number: UInt64,
    _ entity: Draft.Entity,
    _ property: Draft.Property,
    _ relationship: Draft.Relationship,
    _ context: ManagedObjectContext
  ) throws {
    let others = oracle.destinations(of: relationship, in: draft)
    if others.isEmpty { return }
    let target = values.generator.pick(others)
    if target == number, relationship.destination == entity.key { return }
    var trial = oracle
    trial.connect(property.key, .init(from: number, to: target), in: draft)
    guard trial.fits(draft) else { return }
    oracle = trial
    let destination = draft.entities[draft.entityPlace(relationship.destination)]
    let owner = try record(number, entity, context)
    let other = try record(target, destination, context)
    if relationship.isToMany, relationship.isOrdered, chance(1, in: 2) {
      let position = generatorNumber(0...oracle.targets(of: number, property.key).count - 1)
      oracle.move(target, to: position, of: number, property.key)
      try owner.insert(other, into: property.name, at: position)
    } else if relationship.isToMany {
      try owner.add(other, to: property.name)
    } else {
      try owner.setObject(property.name, to: other)
    }
  }

  /// Deletes an object that is not linked: delete rules are tested elsewhere.
  private mutating func deleteOne(_ entity: Draft.Entity, _ context: ManagedObjectContext) throws {
    let free = oracle.numbers(of: entity.key).filter { !oracle.isLinked($0, entity.key, in: draft) }
    guard !free.isEmpty, chance(1, in: 2) else { return }
    let number = values.generator.pick(free)
    try context.delete(record(number, entity, context))
    oracle.rows[entity.key]?[number] = nil
  }

  // MARK: Rewriting

  /// Has the records of earlier layouts rewritten in commits of a few records, and compares.
  mutating func upgrade(_ container: PersistentContainer) throws {
    let before = try headers(container)
    let monitor = MigrationMonitor(chunkByteCount: RandomStore.chunkByteCount)
    let upgraded = try container.engine.upgradeRecords(monitor)
    try #require(upgraded == before.count { !$0.isNewest })
    let after = try headers(container)
    try #require(after.allSatisfy(\.isNewest) && after.map(\.commit) == before.map(\.commit))
    try check(container)
  }

  /// Has every record written in the newest layout: one attribute gets another value in one save and its own in the next.
  mutating func rewrite(_ container: PersistentContainer) throws {
    for _ in 0..<2 {
      let context = try container.context()
      defer { context.end() }
      for entity in draft.entities {
        for record in try context.fetch(DynamicQuery(entity.name)) {
          guard case .int(let value) = try record[Self.serial] else { continue }
          try record.set(Self.serial, to: .int(~value))
        }
      }
      try context.save()
    }
    let outdated = try headers(container).count { !$0.isNewest }
    try #require(outdated == 0)
    try check(container)
  }

  private struct RecordHeader {
    let isNewest: Bool
    /// The commit that changed the object.
    let commit: UInt64
  }

  private func headers(_ container: PersistentContainer) throws -> [RecordHeader] {
    let snapshot = try container.store.snapshot()
    var headers: [RecordHeader] = []
    for entity in container.coordinator.schema.entities {
      guard var cursor = try snapshot.treeIfPresent(entity.treeName)?.cursor() else { continue }
      while try cursor.next() {
        let bytes = try cursor.value()
        let commit = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        headers.append(
          RecordHeader(isNewest: RecordLayout.number(of: bytes) == entity.layout.number, commit: commit)
        )
      }
    }
    return headers
  }
}
