import Foundation
import Predicates
import Testing

/// Foundation's `#Predicate` and its required meaning.
struct FoundationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let predicate: Foundation.Predicate<Flight>
    init(_ text: String, _ predicate: Foundation.Predicate<Flight>) {
      self.text = text
      self.predicate = predicate
    }
    var testDescription: String { text }
  }

  static let comparisons: [Row] = {
    let month = 3
    let missing: String? = nil
    let cabin = Cabin.business.rawValue
    let day = Date(timeIntervalSinceReferenceDate: 0)
    let range = 2...4
    let names = ["x", "y"]
    return [
      Row("month == 1", #Predicate { $0.month == 1 }), Row("month == 3", #Predicate { $0.month == month }),
      Row("month != 1", #Predicate { $0.month != 1 }), Row("month < 1", #Predicate { $0.month < 1 }),
      Row("month <= 1", #Predicate { $0.month <= 1 }), Row("month > 1", #Predicate { $0.month > 1 }),
      Row("month >= 1", #Predicate { $0.month >= 1 }), Row("1 < month", #Predicate { 1 < $0.month }),
      Row("tailnum == nil", #Predicate { $0.tailnum == nil }),
      Row("tailnum == nil", #Predicate { $0.tailnum == missing }),
      Row("tailnum == 'N1'", #Predicate { $0.tailnum == "N1" }),
      Row("month == 1 AND day == 2", #Predicate { $0.month == 1 && $0.day == 2 }),
      Row("month == 1 OR NOT day == 2", #Predicate { $0.month == 1 || !($0.day == 2) }),
      Row("isLate", #Predicate { $0.isLate }), Row("NOT isLate", #Predicate { !$0.isLate }),
      Row("isLate == TRUE", #Predicate { $0.isLate == true }), Row("TRUEPREDICATE", #Predicate { _ in true }),
      Row("cabin == 2", #Predicate { $0.cabin.rawValue == cabin }),
      Row("departed > CAST(0.0, 'Date')", #Predicate { $0.departed > day }),
      Row("month >= 2 AND month <= 4", #Predicate { range.contains($0.month) }),
      Row("month BETWEEN {2, 4}", #Predicate { (2...4).contains($0.month) }),
      Row("month >= 2 AND month < 4", #Predicate { (2..<4).contains($0.month) }),
      Row("title IN {'x', 'y'}", #Predicate { names.contains($0.title) }),
      Row("month IN {1, 2}", #Predicate { [1, 2].contains($0.month) }),
    ]
  }()

  static let paths: [Row] = [
    Row("origin.name == 'x'", #Predicate { $0.origin?.name == "x" }),
    Row("origin.city.title == 'x'", #Predicate { $0.origin?.city?.title == "x" }),
    Row("origin.name == 'x'", #Predicate { $0.origin!.name == "x" }),
    Row("TERNARY(delay == nil, 0.0, delay) > 5.0", #Predicate { ($0.delay ?? 0) > 5 }),
    Row(
      "origin != nil AND origin.altitude > 5",
      #Predicate { $0.origin.flatMap { $0.altitude > 5 } == true }
    ),
    Row(
      "origin != nil AND origin.altitude > 5 OR NOT origin != nil AND FALSEPREDICATE",
      #Predicate { $0.origin.flatMap { $0.altitude > 5 } ?? false }
    ),
    Row(
      "delay != nil AND delay > 5.0 OR NOT delay != nil AND TRUEPREDICATE",
      #Predicate { $0.delay.flatMap { $0 > 5 } ?? true }
    ),
    Row(
      "delay != nil AND delay > 5.0 OR NOT delay != nil AND FALSEPREDICATE",
      #Predicate { if let delay = $0.delay { delay > 5 } else { false } }
    ),
    Row(
      "month == 1 AND day == 2 OR NOT month == 1 AND day == 3",
      #Predicate { $0.month == 1 ? $0.day == 2 : $0.day == 3 }
    ),
  ]

  static let calculations: [Row] = [
    Row("month + 1 > 5", #Predicate { $0.month + 1 > 5 }),
    Row("month - 1 > 5", #Predicate { $0.month - 1 > 5 }),
    Row("month * 2 > 5", #Predicate { $0.month * 2 > 5 }),
    Row("month / 2 > 5", #Predicate { $0.month / 2 > 5 }),
    Row("month %% 2 == 0", #Predicate { $0.month % 2 == 0 }), Row("-month > 5", #Predicate { -$0.month > 5 }),
    Row("distance / 2.0 > 5.0", #Predicate { $0.distance / 2 > 5 }),
    Row("length(title) > 5", #Predicate { $0.title.count > 5 }),
    Row("TERNARY(title == '', TRUE, FALSE) == TRUE", #Predicate { $0.title.isEmpty }),
  ]

  private static let same = ComparisonResult.orderedSame

  static let strings: [Row] = [
    Row("title CONTAINS 'x'", #Predicate { $0.title.contains("x") }),
    Row("title BEGINSWITH 'x'", #Predicate { $0.title.starts(with: "x") }),
    Row("title CONTAINS[cd] 'x'", #Predicate { $0.title.localizedStandardContains("x") }),
    Row("title ==[c] 'x'", #Predicate { $0.title.caseInsensitiveCompare("x") == same }),
    Row("title MATCHES '(?s:.*)(?:a+b)(?s:.*)'", #Predicate { $0.title.contains(/a+b/) }),
  ]

  static let all: [Row] = [comparisons, paths, calculations, strings].flatMap { $0 }

  @Test(arguments: all)
  func aPredicateOfFoundationsMakesTheTreeOfItsText(_ row: Row) throws {
    #expect(try Where(row.predicate).tree == PredicateTree(format: row.text))
  }

  @Test func whatDoesNotConvertIsNamed() {
    let prefixes = ["a": 1]
    let predicate = #Predicate<Flight> { prefixes[$0.title] == 1 }
    let error = performing { () throws(QueryError) in _ = try Where(predicate).tree }
    #expect(error?.message.contains("DictionaryKeySubscript") == true, "\(String(describing: error))")
    let other = #Predicate<Flight> { $0.notes == "x" }
    #expect(performing { () throws(QueryError) in _ = try Where(other).tree }?.code == .keyPath)
  }

  @Test func constantsAreTakenAndNeverTrap() throws {
    let text = "abc"
    let names = ["a": "x"]
    let zero = 0
    let counted = #Predicate<Flight> { $0.month == text.count * 2 }
    #expect(try Where(counted).tree == PredicateTree(format: "month == length('abc') * 2"))
    let found = #Predicate<Flight> { $0.tailnum == names["a"] }
    #expect(try Where(found).tree == PredicateTree(format: "tailnum == 'x'"))
    let divided = #Predicate<Flight> { $0.month == 6 / zero }
    #expect(try Where(divided).tree == PredicateTree(format: "month == 6 / 0"))
  }

  @Test func theBuildersThatFoundationLacksEvaluate() throws {
    let flight = Flight()
    let same = ComparisonResult.orderedSame
    flight.title = "Crème"
    #expect(try #Predicate<Flight> { $0.title.localizedStandardContains("EME") }.evaluate(flight))
    #expect(try !#Predicate<Flight> { $0.title.localizedStandardContains("x") }.evaluate(flight))
    #expect(
      try #Predicate<Flight> { $0.title.caseInsensitiveCompare("CRÈME") == same }.evaluate(flight)
    )
  }
}
