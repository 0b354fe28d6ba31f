import Foundation
import Predicates

@testable import GraphContext

/// A state of a store with unsaved changes applied to it, and queries over it in the simplest way.
final class PlainWorld {
  let schema: ResolvedSchema
  private(set) var store: PlainStore

  init(_ store: PlainStore, _ schema: ResolvedSchema, _ layers: UnsavedLayers?) {
    self.store = store
    self.schema = schema
    guard let layers else { return }
    for entity in schema.entities {
      if let records = layers.records(of: entity) {
        for number in records.hidden { self.store.rows[entity.ordinal][number] = nil }
        records.forEach { number, bytes in
          let row = PlainStore.Row(RecordView(validated: bytes, layout: entity.layout))
          self.store.rows[entity.ordinal][number] = row
        }
      }
      for relationship in entity.toManys {
        guard case .pairs = relationship.storage, let links = layers.links(in: relationship.links) else {
          continue
        }
        let position = relationship.ordinal
        for (owner, elements) in links.removed {
          for element in elements {
            self.store.pairs[entity.ordinal][position].remove(.init(owner: owner, element: element))
          }
        }
        for (owner, elements) in links.added {
          for element in elements {
            self.store.pairs[entity.ordinal][position].insert(.init(owner: owner, element: element))
          }
        }
      }
    }
  }

  /// The objects that a query describes, in its order.
  func subjects(of query: ResolvedQuery) -> [PlainSubject] {
    let ordinal = query.entity.id.ordinal
    var subjects = store.rows[ordinal].map { number, row in
      PlainSubject(world: self, ordinal: ordinal, number: number, row: row)
    }
    let condition = SubjectCondition(query.predicate)
    subjects.removeAll { !condition.matches($0) }
    subjects.sort { a, b in
      for key in query.sort {
        let order = ValueComparison.sortOrder(a.value(at: key.path), b.value(at: key.path))
        if order != 0 { return (order < 0) == key.isAscending }
      }
      return (a.number < b.number) == query.isIDAscending
    }
    return Self.window(subjects, query)
  }

  static func window(_ subjects: [PlainSubject], _ query: ResolvedQuery) -> [PlainSubject] {
    let rest = subjects.dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }

  static func areEqual(_ a: [AttributeValue], _ b: [AttributeValue]) -> Bool {
    zip(a, b).allSatisfy { ValueComparison.sortOrder($0, $1) == 0 }
  }
}

/// An object of a plain world, as predicates see it.
struct PlainSubject: PredicateSubject {
  let world: PlainWorld
  let ordinal: Int
  let number: ObjectNumber
  let row: PlainStore.Row

  func value(at path: ResolvedPath) -> AttributeValue {
    guard let end = follow(path.hops) else { return .null }
    switch path.leaf {
    case .objectID: return .reference(end.number)
    case .slot(let slot, _): return end.row.values[slot]
    }
  }

  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [PlainSubject] {
    guard var object = follow(owner.hops) else { return [] }
    let (toMany, entity) = world.schema[relationship]
    if case .slot(let slot, _) = owner.leaf {
      guard let target = object.target(slot, entity.ordinal) else { return [] }
      object = target
    }
    return world.store.elements(of: object.number, in: toMany.links).compactMap { number in
      subject(number, toMany.destination)
    }
  }

  private func follow(_ hops: [ResolvedPath.Hop]) -> PlainSubject? {
    var object = self
    for hop in hops {
      guard let target = object.target(hop.slot, hop.destination.ordinal) else { return nil }
      object = target
    }
    return object
  }

  private func target(_ slot: Int, _ destination: Int) -> PlainSubject? {
    guard case .reference(let number) = row.values[slot] else { return nil }
    return subject(number, destination)
  }

  private func subject(_ number: ObjectNumber, _ ordinal: Int) -> PlainSubject? {
    world.store.row(number, of: ordinal).map {
      PlainSubject(world: world, ordinal: ordinal, number: number, row: $0)
    }
  }
}

extension PlainStore.Row {
  /// The values of a record.
  init(_ record: RecordView) {
    let slots = 0..<record.slotCount
    self.init(values: slots.map { record.isNull($0) ? .null : record.value($0) }, commit: record.commit)
  }
}

/// Aggregates of integers, of decimals, and of doubles that add up exactly.
enum PlainAggregate {
  static func value(_ aggregate: ResolvedAggregate, of members: [PlainSubject]) -> AttributeValue {
    guard let path = aggregate.path else { return .int(Int64(members.count)) }
    let values = members.map { $0.value(at: path) }.filter { !$0.isNull }
      .sorted { ValueComparison.sortOrder($0, $1) < 0 }
    switch aggregate.function {
    case .count: return .int(Int64(values.count))
    case .minimum: return values.first ?? .null
    case .maximum: return values.last ?? .null
    case .sum: return sum(values, of: path.kind)
    case .average:
      if values.isEmpty { return .null }
      if path.kind == .decimal { return .decimal(total(values) / Decimal(values.count)) }
      return .double(values.reduce(0) { $0 + number($1) } / Double(values.count))
    case .median:
      if values.isEmpty { return .null }
      let middle = [values[(values.count - 1) / 2], values[values.count / 2]]
      if path.kind == .decimal { return .decimal(total(middle) / 2) }
      return .double((number(middle[0]) + number(middle[1])) / 2)
    }
  }

  static func sum(_ values: [AttributeValue], of kind: AttributeKind) -> AttributeValue {
    switch kind {
    case .decimal: .decimal(total(values))
    case .float, .double: .double(values.reduce(0) { $0 + number($1) })
    default: .int(values.reduce(0) { if case .int(let value) = $1 { $0 + value } else { $0 } })
    }
  }

  private static func total(_ values: [AttributeValue]) -> Decimal {
    values.reduce(0) { if case .decimal(let value) = $1 { $0 + value } else { $0 } }
  }

  private static func number(_ value: AttributeValue) -> Double {
    switch value {
    case .int(let value): Double(value)
    case .double(let value): value
    default: .nan
    }
  }
}
