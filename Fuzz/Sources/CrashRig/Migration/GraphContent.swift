import GraphContext
import Predicates

/// The objects of a graph as plain values: the expected contents of a store under one of its schemas. Shares no code
/// with contexts.
///
/// Objects are known by their codes, which no change of a schema touches.
struct GraphContent: Sendable, Equatable {
  /// The value of a property of an object.
  enum Shown: Sendable, Equatable {
    case value(AttributeValue)
    /// The objects that a relationship leads to, in ascending order.
    case codes([Int])
  }
  typealias Row = [String: Shown]

  /// The attribute that every entity has.
  static let code = "code"

  /// The objects of each entity that has any, by their codes.
  var rows: [String: [Int: Row]] = [:]

  /// Changes each object of an entity.
  mutating func change(_ entity: String, _ body: (Int, inout Row) -> Void) {
    for code in rows[entity, default: [:]].keys {
      var row = rows[entity]?[code] ?? [:]
      body(code, &row)
      rows[entity]?[code] = row
    }
  }
}

extension GraphContent {
  /// Reads the contents of a context.
  init(of schema: Schema, in context: ManagedObjectContext) throws {
    for entity in schema.entities {
      for record in try context.fetch(DynamicQuery(entity.name)) {
        var row: Row = [:]
        for property in entity.properties { row[property.name] = try Self.shown(property, record) }
        rows[entity.name, default: [:]][try Self.code(of: record)] = row
      }
    }
  }

  private static func shown(_ property: PropertyDescription, _ record: ManagedRecord) throws -> Shown {
    if !property.isRelationship { return .value(try record[property.name]) }
    let objects =
      try property.isToMany
      ? record.objects(property.name) : [record.object(property.name)].compactMap(\.self)
    return .codes(try objects.map(code).sorted())
  }

  static func code(of record: ManagedRecord) throws -> Int {
    guard case .int(let code) = try record[code] else { throw GraphDifference("an object has no code") }
    return Int(code)
  }

  /// - Throws: the first difference from the expected contents.
  func compare(with expected: GraphContent) throws {
    for entity in Set(rows.keys).union(expected.rows.keys).sorted() {
      let (shown, wanted) = (rows[entity, default: [:]], expected.rows[entity, default: [:]])
      guard shown.keys.sorted() == wanted.keys.sorted() else {
        throw GraphDifference("codes of \(entity): \(shown.keys.sorted()) instead of \(wanted.keys.sorted())")
      }
      for (code, row) in shown.sorted(by: { $0.key < $1.key }) where row != wanted[code] {
        throw GraphDifference("\(entity) \(code): \(row) instead of \(wanted[code, default: [:]])")
      }
    }
  }
}
