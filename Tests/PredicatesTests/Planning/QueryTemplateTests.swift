import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Predicates

/// Queries with templates, compared with the same queries without.
struct QueryTemplateTests {
  private final class Kept: QueryTemplateKeeping {
    private let templates = Mutex(QueryTemplates())

    var count: Int { templates.withLock { $0.count } }

    func template(withHash hash: UInt64) -> QueryTemplate? { templates.withLock { $0[hash] } }

    func keep(_ template: QueryTemplate, withHash hash: UInt64) {
      templates.withLock { $0.keep(template, withHash: hash) }
    }
  }

  private typealias Outcome = Result<ResolvedQuery, QueryError>

  /// Returns true if a planner and an executor get the same information about a query. Equal values also have equal
  /// texts: zeros agree in their sign.
  private func areSame(_ left: Outcome, _ right: Outcome) -> Bool {
    switch (left, right) {
    case (.success(let a), .success(let b)):
      a.predicate == b.predicate && "\(a.predicate)" == "\(b.predicate)" && a.sort == b.sort
        && a.limit == b.limit && a.offset == b.offset && a.entity == b.entity
    case (.failure(let a), .failure(let b)): a == b
    default: false
    }
  }

  @Test func aQueryIsTheSameWithAndWithoutATemplate() throws {
    var queries = RandomQueries(random: SeededGenerator())
    let flight = try FlightSchema.flight
    let schema = FlightSchema.shared
    let kept = Kept()
    var (templateCount, mistakeCount) = (0, 0)
    let (shapeCount, valueCount) = (800, 10)
    for _ in 0..<shapeCount {
      var query = queries.query()
      for _ in 0..<valueCount {
        let expected = Result { () throws(QueryError) in try query.resolved(for: flight, in: schema) }
        let found = Result { () throws(QueryError) in
          try query.resolved(for: flight, in: schema, templates: kept)
        }
        try #require(areSame(found, expected), "\(query.predicate): \(found), not \(expected)")
        switch found {
        case .success(let query): if query.usesTemplate { templateCount += 1 }
        case .failure: mistakeCount += 1
        }
        query = queries.another(query)
      }
    }
    print("\(templateCount) of \(shapeCount * valueCount) queries used a template; \(mistakeCount) mistakes")
    // Many values prevent the use of a template: NaN, nil with options, numbers beyond the attribute's range.
    #expect(templateCount * 4 > shapeCount * valueCount)
    #expect(kept.count <= QueryTemplates.maximumCount)
  }

  private func usesTemplate(
    _ formats: [String],
    _ kept: Kept,
    sort: [NamedSort] = []
  ) throws -> [Bool] {
    try formats.map { format in
      let query = NamedQuery(predicate: try PredicateTree(format: format), sort: sort)
      return try query.resolved(for: FlightSchema.flight, in: FlightSchema.shared, templates: kept)
        .usesTemplate
    }
  }

  static let shapes: [(formats: [String], expected: [Bool])] = [
    (["month == 1", "month == 2", "month != 1", "day == 1"], [false, true, false, false]),
    (["month > 1 AND title == 'x'", "month > 9 AND title == 'y'"], [false, true]),
    // Two conditions on one column become one set.
    (
      ["month > 1 AND month < 5", "month > 3 AND month < 4", "month > 2 AND month < 9"], [false, false, true]
    ),
    (
      ["title ==[c] 'a'", "title ==[c] 'B'", "title ==[d] 'a'", "title == 'a'"], [false, true, false, false]
    ),
    // Nil isn't folded, so the condition is about another column than with other values.
    (["status ==[c] 'a'", "status ==[c] nil", "status ==[c] 'b'"], [false, false, true]),
    // Lists of any length share a template, except for the empty list, which contains no value.
    (["month IN {1, 2}", "month IN {3, 4, 5, 6}", "month IN {}"], [false, true, false]),
    // Of two equal tests, one is left.
    (
      [
        "title CONTAINS 'a' OR title CONTAINS 'b'", "title CONTAINS 'c' OR title CONTAINS 'c'",
        "title CONTAINS 'c' OR title CONTAINS 'd'",
      ],
      [false, false, true]
    ),
    (["title LIKE 'a*'", "title LIKE 'b*'"], [false, false]),
    (["month + 1 == 2", "month + 1 == 2"], [false, false]),
    (["ANY legs.minutes == 1", "ANY legs.minutes == 1"], [false, false]),
    (["title == tailnum AND month == 1", "title == tailnum AND month == 3"], [false, true]),
    (["day == 1", "day == 1000", "day < 1000", "day < 5"], [false, false, false, true]),
    (["NOT (month < 3 OR title == 'a')", "NOT (month < 2 OR title == nil)"], [false, true]),
  ]

  @Test(arguments: shapes)
  func queriesOfOneShapeUseItsTemplate(_ formats: [String], _ expected: [Bool]) throws {
    #expect(try usesTemplate(formats, Kept()) == expected)
  }

  @Test func sortKeysArePartOfTheShape() throws {
    let kept = Kept()
    let formats = ["month == 1", "month == 2"]
    #expect(try usesTemplate(formats, kept, sort: [NamedSort(["title"])]) == [false, true])
    #expect(try usesTemplate(formats, kept, sort: [NamedSort(["title"], ascending: false)]) == [false, true])
    #expect(try usesTemplate(formats, kept) == [false, true])
  }

  @Test func templatesKeepNoValues() throws {
    let value = "a text that stays with the query"
    let kept = Kept()
    let query = NamedQuery(
      predicate: try PredicateTree(format: "title == %@ OR status IN {%@}", arguments: [value, value])
    )
    let flight = try FlightSchema.flight
    _ = try query.resolved(for: flight, in: FlightSchema.shared, templates: kept)
    let hash = try #require(QueryShape.hash(of: query, flight))
    var text = ""
    dump(try #require(kept.template(withHash: hash)), to: &text)
    #expect(text.contains("title") && !text.contains(value))
  }

  @Test func shapesWithoutEndTakeNoMemory() throws {
    let kept = Kept()
    let flight = try FlightSchema.flight
    for count in 1...2_000 {
      let month = PredicateTree.comparison(.path(["month"]), .equal, .value(.int(1)), [])
      let title = PredicateTree.comparison(.path(["title"]), .equal, .value(.string("x")), [])
      let bits = (0..<11).map { count >> $0 & 1 == 1 ? month : title }
      let query = NamedQuery(predicate: .any(bits))
      _ = try query.resolved(for: flight, in: FlightSchema.shared, templates: kept)
      #expect(kept.count <= QueryTemplates.maximumCount)
    }
    let long = NamedQuery(
      predicate: .any((0..<100).map { .comparison(.path(["month"]), .equal, .value(.int($0)), []) })
    )
    #expect(QueryShape.hash(of: long, flight) == nil)
  }

  /// An object of another store, and an object whose entity has another name by now, are checked each time.
  @Test func objectsAreCheckedAgainstTheStoreEachTime() throws {
    let kept = Kept()
    let store = UUID()
    func resolve(_ store: UUID?, _ number: UInt64, in asked: UUID) throws -> ResolvedQuery {
      let object = ObjectReference(entity: "Airport", number: ObjectNumber(rawValue: number), store: store)
      let tree = PredicateTree.comparison(.path(["origin"]), .equal, .reference(object), [])
      return try NamedQuery(predicate: tree)
        .resolved(for: FlightSchema.flight, in: FlightSchema.shared, store: asked, templates: kept)
    }
    #expect(try resolve(store, 1, in: store).usesTemplate == false)
    #expect(try resolve(store, 2, in: store).usesTemplate)
    #expect(throws: QueryError.self) { try resolve(UUID(), 2, in: store) }
    #expect(throws: QueryError.self) { try resolve(store, 2, in: UUID()) }
  }
}
