import Foundation
import PageStore
import Predicates

/// Looks for the objects of a snapshot that a new schema doesn't allow.
///
/// Records are read as the new schema reads them. Memory is bounded, whatever the size of the store.
struct SchemaChecker {
  private let change: SchemaChange
  /// The schema that the store is to get.
  private let schema: ResolvedSchema
  private let snapshot: Snapshot
  private let storeID: UUID
  /// Properties whose values are not in the snapshot yet.
  private let unknown: Set<PropertyNumber>
  private let showsValues: Bool

  /// - Parameter unknown: properties whose values are not in the snapshot yet: rules about them aren't checked.
  init(
    _ change: SchemaChange,
    _ schema: ResolvedSchema,
    _ snapshot: Snapshot,
    store: UUID,
    besides unknown: Set<PropertyNumber> = [],
    showsValues: Bool
  ) {
    self.change = change
    self.schema = schema
    self.snapshot = snapshot
    self.storeID = store
    self.unknown = unknown
    self.showsValues = showsValues
  }

  /// Returns the objects that prevent a change without obstacles.
  func refusal() throws -> SchemaRefusal {
    var refusal = SchemaRefusal()
    try find(change.checks, &refusal)
    for case .index(let entity, let index) in change.work {
      try findLongKeys(of: index, in: entity, &refusal)
    }
    for inverse in change.newInverses { try findWrongLinks(of: inverse, &refusal) }
    return refusal
  }

  /// Returns the objects that break a rule after the passes of a custom stage.
  func lateRefusal() throws -> SchemaRefusal {
    var refusal = SchemaRefusal()
    try find(change.lateChecks, &refusal)
    return refusal
  }

  private func find(_ checks: [SchemaChange.Check], _ refusal: inout SchemaRefusal) throws {
    for check in checks { try find(check, &refusal) }
  }

  private func find(_ check: SchemaChange.Check, _ refusal: inout SchemaRefusal) throws {
    switch check {
    case .noNil(let number, let property):
      guard let entity = schema.entity(number), let slot = schema.slot(of: property, in: entity),
        !unknown.contains(property)
      else { return }
      try forEachRecord(of: entity) { object, record in
        let isOwn = entity.ownSlots(of: object).contains(slot)
        if !isOwn || !record.isNull(slot) || entity.isPartOfNil(slot, record) { return }
        refusal.add(offender(.required, object, record, [slot], entity))
      }
    case .unique(let number, let index):
      guard let entity = schema.entity(number), isKnown(index, of: number),
        let index = schema.index(index, of: entity)
      else { return }
      try findTwins(of: index, in: entity, &refusal)
    }
  }

  /// Returns whether the snapshot has the values for the keys of an index.
  private func isKnown(_ index: IndexNumber, of entity: EntityNumber) -> Bool {
    let index = change.target.entity(entity)?.indexes.first { $0.number == index }
    return unknown.isDisjoint(with: index?.properties ?? [])
  }

  private func findLongKeys(
    of number: IndexNumber,
    in entity: EntityNumber,
    _ refusal: inout SchemaRefusal
  ) throws {
    guard isKnown(number, of: entity), let entity = schema.entity(entity),
      let index = schema.index(number, of: entity),
      index.slots.contains(where: { entity.layout.fields[$0].kind.fixedByteCount == nil })
    else { return }
    var key: [UInt8] = []
    try forEachRecord(of: entity) { object, record in
      var isTooLong = false
      index.forEachKey(of: record, object, in: &key) {
        isTooLong = isTooLong || $0.count > StoreLimits.keyByteCount
      }
      if isTooLong {
        refusal.add(offender(.keyLength, object, record, index.slots, entity, withValues: false))
      }
    }
  }

  // MARK: Uniqueness

  /// The number of hashes held at a time. Each is 8 bytes; a larger entity is read several times.
  private static let hashCount = 1 << 20

  private func findTwins(
    of index: ResolvedIndex,
    in entity: StoredEntity,
    _ refusal: inout SchemaRefusal
  ) throws {
    let count = try snapshot.treeIfPresent(entity.treeName)?.count ?? 0
    let passCount = UInt64(max(0, count - 1) / Self.hashCount + 1)
    for pass in 0..<passCount { try findTwins(of: index, in: entity, pass, of: passCount, &refusal) }
  }

  /// Looks for equal keys among those whose hashes are `pass` modulo `passCount`.
  private func findTwins(
    of index: ResolvedIndex,
    in entity: StoredEntity,
    _ pass: UInt64,
    of passCount: UInt64,
    _ refusal: inout SchemaRefusal
  ) throws {
    var hashes: [UInt64] = []
    try forEachConstrainedKey(of: index, in: entity) { hash, _, _, _ in
      if hash % passCount == pass { hashes.append(hash) }
    }
    hashes.sort()
    let suspects = Set(zip(hashes, hashes.dropFirst()).filter(==).map(\.0))
    if suspects.isEmpty { return }
    // Different values may have the same hash.
    var counts: [[UInt8]: Int] = [:]
    try forEachConstrainedKey(of: index, in: entity) { hash, key, _, _ in
      if suspects.contains(hash) { counts[key, default: 0] += 1 }
    }
    try forEachConstrainedKey(of: index, in: entity) { hash, key, object, record in
      guard suspects.contains(hash), counts[key, default: 0] > 1 else { return }
      refusal.add(offender(.unique, object, record, index.slots, entity))
    }
  }

  /// Calls `body` with the components of each key in which no value is nil, and their hash.
  private func forEachConstrainedKey(
    of index: ResolvedIndex,
    in entity: StoredEntity,
    _ body: (_ hash: UInt64, _ components: [UInt8], ObjectNumber, RecordView) -> Void
  ) throws {
    var key: [UInt8] = []
    let seed = Hasher()
    try forEachRecord(of: entity) { object, record in
      key.removeAll(keepingCapacity: true)
      guard index.appendKey(of: record, object, to: &key) else { return }
      key.removeLast(KeyCoder.numberByteCount)
      var hasher = seed
      key.withUnsafeBytes { hasher.combine(bytes: $0) }
      body(UInt64(bitPattern: Int64(hasher.finalize())), key, object, record)
    }
  }

  // MARK: New inverses

  private func findWrongLinks(of inverse: NewInverse, _ refusal: inout SchemaRefusal) throws {
    guard let entity = schema.entity(inverse.entity),
      let slot = schema.slot(of: inverse.property, in: entity),
      let links = try snapshot.treeIfPresent(inverse.links)
    else { return }
    let passCount = UInt64(try links.count / Self.hashCount + 1)
    for pass in 0..<passCount {
      var linked: [ObjectNumber] = []
      var cursor = links.cursor()
      while try cursor.next() {
        guard let pair = KeyCoder.numbers(ofPair: try cursor.key()) else {
          throw ContextError.damaged("a link")
        }
        let number = inverse.isExchanged ? pair.1 : pair.0
        if number.rawValue % passCount == pass { linked.append(number) }
      }
      if linked.isEmpty, !inverse.isRequired { continue }
      linked.sort()
      let shared = Set(zip(linked, linked.dropFirst()).filter(==).map(\.0))
      if shared.isEmpty, !inverse.isRequired, entity.classes.isEmpty { continue }
      let known = Set(linked)
      try forEachRecord(of: entity) { object, record in
        if !entity.ownSlots(of: object).contains(slot) {
          guard known.contains(object) else { return }
          refusal.add(offender(.otherClass, object, record, [slot], entity, withValues: false))
        } else if shared.contains(object) {
          refusal.add(offender(.severalDestinations, object, record, [slot], entity, withValues: false))
        } else if inverse.isRequired, object.rawValue % passCount == pass, !known.contains(object) {
          refusal.add(offender(.required, object, record, [slot], entity))
        }
      }
    }
  }

  // MARK: Conversions

  /// Finds the objects whose values a conversion refuses.
  func findUnconverted(
    _ conversion: AttributeConversion,
    from old: CataloguedSchema,
    to new: Schema,
    _ refusal: inout SchemaRefusal
  ) throws {
    let stored = try ResolvedSchema(old)
    let (entity, slot, attribute) = try conversion.resolved(in: stored, change.target, new)
    let property = old.entity(named: conversion.entity)?.property(named: conversion.attribute)
    guard conversion.rule.refusesValues, property.map({ unknown.contains($0.number) }) != true else { return }
    let source = property?.storedKind.map {
      AttributeDescription(name: conversion.attribute, kind: $0, elementKind: property?.elementKind)
    }
    let view = StoreView(schema: stored, snapshot: snapshot)
    try forEachRecord(of: entity) { object, record in
      // The pass reports values that can't be read.
      let value = (try? view.value(of: record, at: slot, entity)) ?? .null
      if value.isNull || conversion.rule.convert(value, of: source, to: attribute) != nil { return }
      // The record of a long value that is stored externally doesn't have it.
      let hasValue = record.externalReference(slot) == nil
      refusal.add(offender(.conversion, object, record, [slot], entity, withValues: hasValue))
    }
  }

  // MARK: Records

  private func forEachRecord(of entity: StoredEntity, _ body: (ObjectNumber, RecordView) -> Void) throws {
    try entity.forEachRecord(in: snapshot, body)
  }

  private func offender(
    _ rule: SchemaRefusal.Offender.Rule,
    _ number: ObjectNumber,
    _ record: RecordView,
    _ slots: [Int],
    _ entity: StoredEntity,
    withValues: Bool = true
  ) -> SchemaRefusal.Offender {
    SchemaRefusal.Offender(
      rule: rule,
      objectID: entity.objectID(number, in: storeID),
      properties: slots.map { entity.schema.stored[$0].name },
      values: showsValues && withValues ? slots.map(record.value) : []
    )
  }
}
