import Foundation
import Testing

@testable import Predicates

/// The results of the rules for literals, taken from the debugging text of the resolved predicate.
struct ResolutionTests {
  private func resolve(_ text: String, _ arguments: [any PredicateArgument] = []) throws -> ResolvedPredicate
  {
    try PredicateTree(format: text, arguments: arguments)
      .resolved(for: try FlightSchema.flight, in: FlightSchema.shared)
  }

  private func path(_ name: String) throws -> ResolvedPath {
    try PathResolver(entity: try FlightSchema.flight, schema: FlightSchema.shared)
      .resolve(name.split(separator: ".").map(String.init)).path
  }

  // MARK: Paths

  @Test func namesBecomeSlotsThroughHops() throws {
    let month = try path("month")
    #expect(month.hops.isEmpty && month.leaf == .slot(0, .int64) && !month.isOptional)
    let title = try path("origin.city.title")
    #expect(title.hops.map(\.destination) == [EntityID(1), EntityID(2)])
    #expect(title.hops.map(\.slot) == [16, 3] && title.leaf == .slot(0, .string) && title.isOptional)
    #expect(try path("origin.objectID").leaf == .objectID)
    #expect(try path("origin").leaf == .slot(16, .reference))
  }

  static let unknownPaths: [(String, QueryError.Code, Int, String)] = [
    ("moth == 1", .unknownName, 0, "Did you mean “month”?"),
    ("origin.nmae == 'x'", .unknownName, 7, "Did you mean “name”?"),
    ("month == 1 AND origin.nam == 'x'", .unknownName, 22, "Airport has no property named “nam”"),
    ("title.length == 1", .typeMismatch, 6, "title is a string: it has no property “length”"),
    ("legs == nil", .typeMismatch, 0, "say ANY, ALL or NONE"),
    ("origin.city.titel == 'x'", .unknownName, 12, "Did you mean “title”?"),
  ]

  @Test(arguments: unknownPaths)
  func aWrongNameIsFoundAtItsColumn(
    _ text: String,
    _ code: QueryError.Code,
    _ column: Int,
    _ part: String
  ) throws {
    let tree = try PredicateTree(format: text)
    let entity = try FlightSchema.flight
    let error = try #require(
      performing { () throws(QueryError) in _ = try tree.resolved(for: entity, in: FlightSchema.shared) }
    )
    #expect(error.code == code && error.column == column && error.source == text, "\(error)")
    #expect(error.message.contains(part), "\(error)")
    #expect(error.keyPath != nil)
  }

  // MARK: Types

  static let mismatches: [(String, Int, String)] = [
    ("month == 'x'", 9, "month is an Int; it can't be compared with the string \"x\""),
    ("title > 5", 8, "title is a string; it can't be compared with the number 5"),
    ("5 < title", 0, "title is a string"),
    ("origin == 5", 10, "origin is an object"),
    ("month BEGINSWITH 'x'", 17, "BEGINSWITH goes with strings"),
    ("month ==[c] 1", 12, "[c] goes with strings"),
    ("month ==[dn] 1", 13, "[dn] goes with strings"), ("month LIKE '1*'", 11, "LIKE goes with strings"),
    ("title LIKE tailnum", 11, "pattern of LIKE must be a literal"),
    ("title MATCHES tailnum", 14, "pattern of MATCHES must be a literal"),
    ("'x*' LIKE title", 10, "pattern of LIKE must be a literal"),
    ("lowercase(title) LIKE tailnum", 22, "pattern of LIKE must be a literal"),
    ("month + 1 LIKE 'x'", 15, "by LIKE"),
    ("title MATCHES[d] 'x'", 17, "[d] is not supported after MATCHES"),
    ("title MATCHES 5", 14, "title is a string"),
    ("origin < dest", 0, "objects have no order"),
    ("month == title", 9, "can't be compared"),
    (
      "origin == SELF", 10,
      "origin is an object (Airport) and SELF is an object (Flight): they can't be compared"
    ),
    ("legs.@sum > 0", 0, "legs.@sum can't be computed: each of the values is an object"),
    ("month IN {1, 'x'}", 13, "string"),
    ("month BETWEEN {1, 'x'}", 18, "string"),
    ("isLate == 2", 10, "a Bool"),
    ("month == TRUE", 9, "a Bool"),
    ("departed > '2013-02-30'", 11, "no ISO 8601 date"),
    ("departed > 5", 11, "departed is a date"),
    ("token == 'x'", 9, "“x” is not one"),
    ("origin == CAST('City/1', 'ObjectID')", 10, "leads to Airport, never to City"),
    ("5 == 'x'", 5, "can't be compared"), ("now() > 'x'", 8, "can't be compared"),
    (
      "month IN 5", 9,
      "The number 5 is no list, no range and no string: IN and CONTAINS search only these."
    ),
    ("month IN day", 9, "day, an Int8, is no list"), ("5 IN month", 0, "month, an Int, is no list"),
    ("month CONTAINS 5", 15, "month, an Int, is no list"), ("title IN TRUE", 9, "is no list"),
    ("title IN month + 1", 9, "Month + 1 is no list"),
    ("month IN nil", 9, "nil is no list"), ("nil CONTAINS month + 1", 0, "nil is no list"),
    ("month + 1 == 'x'", 13, "Month + 1, a number, can't be compared with the string \"x\", a string, by =="),
    ("isLate == TERNARY(month == 1, month, 2)", 10, "can't be compared"),
    ("month", 0, "a Bool"),
  ]

  @Test(arguments: mismatches)
  func typesThatDoNotFitAreAnError(_ text: String, _ column: Int, _ part: String) throws {
    let tree = try PredicateTree(format: text)
    let entity = try FlightSchema.flight
    let error = try #require(
      performing { () throws(QueryError) in _ = try tree.resolved(for: entity, in: FlightSchema.shared) }
    )
    #expect(error.code == .typeMismatch && error.message.contains(part), "\(error)")
    #expect(error.column == column && error.source == text, "\(error)")
  }

  @Test(arguments: [
    ("title MATCHES '('", QueryError.Code.syntax, 14, "is no pattern for MATCHES"),
    ("lowercase(title) MATCHES '('", .syntax, 25, "is no pattern for MATCHES"),
    ("month == 1 AND 'x' MATCHES '*'", .syntax, 27, "is no pattern for MATCHES"),
    ("title MATCHES '\(String(repeating: "a", count: 1_001))'", .tooComplex, 14, "1000 bytes at most"),
    ("title MATCHES '\(String(repeating: "[a]", count: 33))'", .tooComplex, 14, "32 sets"),
  ])
  func aPatternThatIsNoneIsFoundAtItsColumn(
    _ text: String,
    _ code: QueryError.Code,
    _ column: Int,
    _ part: String
  ) throws {
    let tree = try PredicateTree(format: text)
    let entity = try FlightSchema.flight
    let error = try #require(
      performing { () throws(QueryError) in _ = try tree.resolved(for: entity, in: FlightSchema.shared) }
    )
    #expect(error.code == code && error.column == column && error.source == text, "\(error)")
    #expect(error.message.contains(part), "\(error)")
  }

  // MARK: Literals

  @Test(arguments: [
    ("month < 2.5", "month <= 2"), ("month <= 2.5", "month <= 2"), ("month > 2.5", "month > 2"),
    ("month >= 2.5", "month > 2"), ("month > -2.5", "month > -3"), ("2.5 > month", "month <= 2"),
    ("month == 2.5", "FALSEPREDICATE"), ("month != 2.5", "TRUEPREDICATE"), ("month == 2.0", "month == 2"),
    ("month < 2.00000000000000000001", "month <= 2"), ("month < 1.99999999999999999999", "month <= 1"),
    ("month > -2.00000000000000000001", "month > -3"),
    ("day < 128", "TRUEPREDICATE"), ("day <= 127", "day <= 127"), ("day > 127.5", "FALSEPREDICATE"),
    ("day >= 128", "FALSEPREDICATE"), ("day == 128", "FALSEPREDICATE"), ("day != 128", "TRUEPREDICATE"),
    ("day > -129", "TRUEPREDICATE"), ("day < -128.5", "FALSEPREDICATE"), ("day > -128.5", "TRUEPREDICATE"),
    ("depTime < 1e30", "NOT depTime == nil"), ("depTime > 1e30", "FALSEPREDICATE"),
    ("seats >= -1", "TRUEPREDICATE"), ("seats < 18446744073709551616", "TRUEPREDICATE"),
    ("seats > 9223372036854775808", "seats > 9223372036854775808"),
    ("month < CAST('nan', 'Double')", "FALSEPREDICATE"), ("month != CAST('nan', 'Double')", "TRUEPREDICATE"),
    ("distance == CAST('nan', 'Double')", "FALSEPREDICATE"),
    ("distance != CAST('nan', 'Double')", "TRUEPREDICATE"),
    ("distance == 5", "distance == 5.0"), ("distance == 9007199254740993", "distance == 9007199254740992.0"),
    ("distance < 1e400", "distance <= 1.7976931348623157e+308"),
    ("fare == 0.1", "fare == 0.10000000149011612"), ("fare == 16777217", "fare == 16777216.0"),
    ("fare < 1e39", "fare <= 3.4028234663852886e+38"), ("fare >= 1e39", "fare > 3.4028234663852886e+38"),
    ("fare == 1e39", "FALSEPREDICATE"), ("fare > -1e39", "fare > -inf"),
    ("fare == 1.00000005960464480001", "fare == 1.0000001192092896"),
    ("isLate == 1", "isLate == TRUE"), ("isLate == 0", "isLate == FALSE"),
    ("depTime == nil", "depTime == nil"), ("depTime != nil", "NOT depTime == nil"),
    ("depTime < nil", "FALSEPREDICATE"), ("title BEGINSWITH nil", "FALSEPREDICATE"),
    ("nil == nil", "TRUEPREDICATE"), ("nil < 5", "FALSEPREDICATE"), ("5 == 5.0", "TRUEPREDICATE"),
    ("9007199254740993 == 9007199254740992.0", "FALSEPREDICATE"), ("'a' < 'B'", "FALSEPREDICATE"),
    ("'a' BEGINSWITH[c] 'A'", "TRUEPREDICATE"), ("'É' ==[cd] 'e'", "TRUEPREDICATE"),
    ("'Carey' LIKE 'C*y'", "TRUEPREDICATE"), ("'Carey' MATCHES 'C.*'", "TRUEPREDICATE"),
    ("title LIKE nil", "FALSEPREDICATE"), ("title MATCHES nil", "FALSEPREDICATE"),
    ("depTime IN {1, 1.5, nil, 1e30, 2.0}", "depTime IN {1, 2, nil}"), ("month IN {}", "month IN {}"),
    ("distance IN {1, CAST('nan', 'Double')}", "distance IN {1.0}"),
    ("month BETWEEN {1.5, 3.5}", "month in (1, 3]"), ("day BETWEEN {-1000, 1000}", "TRUEPREDICATE"),
    ("depTime BETWEEN {-1e30, 1e30}", "NOT depTime == nil"), ("day BETWEEN {1000, 2000}", "FALSEPREDICATE"),
    ("day BETWEEN {-1000, 5}", "day in (, 5]"), ("month BETWEEN {nil, 5}", "FALSEPREDICATE"),
    ("5 BETWEEN {month, 10}", "(month <= 5 AND TRUEPREDICATE)"),
    ("departed == '2001-01-01T00:00:10Z'", "departed == CAST(10.0, \"Date\")"),
    ("cabin == 9", "cabin == 9"), ("month IN {day, 5}", "(month IN {5} OR (month == day))"),
    ("origin == CAST('Airport/7', 'ObjectID')", "origin == CAST(\"7\", \"ObjectID\")"),
    ("SELF == CAST('Flight/7', 'ObjectID')", "SELF == CAST(\"7\", \"ObjectID\")"),
    ("month == distance", "month == distance"), ("origin == dest", "origin == dest"),
  ])
  func literalsTakeTheAttributesType(_ text: String, _ expected: String) throws {
    #expect(try resolve(text).text == expected)
  }

  @Test(arguments: [
    ("now() > '2013-01-01'", "TRUEPREDICATE"), ("'2001-01-01' == CAST(0, 'Date')", "TRUEPREDICATE"),
    ("CAST('2013-01-01', 'Date') BETWEEN {'2013-01-02', '2014-01-01'}", "(FALSEPREDICATE AND TRUEPREDICATE)"),
    (
      "CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'UUID') == 'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'",
      "TRUEPREDICATE"
    ),
    ("TRUE == 1", "TRUEPREDICATE"), ("0 == TRUE", "FALSEPREDICATE"),
  ])
  func aLiteralTakesTheTypeOfAnother(_ text: String, _ expected: String) throws {
    #expect(try resolve(text).text == expected)
  }

  @Test(arguments: [
    ("CAST(departed, 'NSNumber') > 0", "toNumber(departed) > 0"),
    ("CAST(CAST(10.5, 'NSDate'), 'NSNumber') == 10.5", "TRUEPREDICATE"),
    ("CAST(CAST(now(), 'NSNumber') - 60, 'NSDate') == now() - 60", "TRUEPREDICATE"),
  ])
  func theNumberOfADateIsItsSeconds(_ text: String, _ expected: String) throws {
    #expect(try resolve(text).text == expected)
  }

  @Test func everyNowOfAConditionIsOneMoment() throws {
    let conditions = Array(repeating: "now() == now() AND now() - now() == 0", count: 100)
    let resolved = try resolve(conditions.joined(separator: " AND "))
    #expect(Normaliser.normalise(resolved) == .constant(true))
  }

  @Test func aValueOfAnUnknownCaseIsALiteralLikeAnyOther() throws {
    #expect(try resolve("status == 'lost'").text == "status == \"lost\"")
  }

  @Test func aTreeThatIsTooDeepIsRefused() throws {
    var tree = PredicateTree.constant(true)
    for _ in 0...PredicateTree.maximumDepth { tree = .not(tree) }
    let deep = tree
    let entity = try FlightSchema.flight
    let error = performing { () throws(QueryError) in
      _ = try deep.resolved(for: entity, in: FlightSchema.shared)
    }
    #expect(error?.code == .tooComplex)
  }
}

extension ResolvedPredicate {
  /// The predicate in a line, for expectations.
  var text: String {
    switch self {
    case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .isNull(let path): return "\(path.name) == nil"
    case .compare(let path, let comparison, let value, let options):
      return "\(path.name) \(comparison.rawValue)\(options.formatText) \(value.formatTextOrInfinity)"
    case .comparePaths(let left, let comparison, let right, let options):
      return "\(left.name) \(comparison.rawValue)\(options.formatText) \(right.name)"
    case .among(let path, let values, let includesNull, _):
      let all = values + (includesNull ? [.null] : [])
      return "\(path.name) IN {\(all.map(\.formatText).joined(separator: ", "))}"
    case .within(let path, let range):
      let lower = range.lower.map { ($0.isIncluded ? "[" : "(") + $0.value.formatText } ?? "("
      let upper = range.upper.map { $0.value.formatText + ($0.isIncluded ? "]" : ")") } ?? ")"
      return "\(path.name) in \(lower), \(upper)"
    case .compareValues, .exists: return "\(Normaliser.normalise(self))"
    case .not(let child): return "NOT \(child.text)"
    case .and(let children): return "(" + children.map(\.text).joined(separator: " AND ") + ")"
    case .or(let children): return "(" + children.map(\.text).joined(separator: " OR ") + ")"
    }
  }
}

extension AttributeValue {
  fileprivate var formatTextOrInfinity: String {
    if case .double(let value) = self, value.isInfinite { value.description } else { formatText }
  }
}
