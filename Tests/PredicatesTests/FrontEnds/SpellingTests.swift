import Foundation
import Predicates
import Testing

/// One condition in all three spellings.
struct Spelling: Sendable, CustomTestStringConvertible {
  let format: String
  let arguments: [FormatArgument]
  let closure: Where<Flight>
  let keyPath: Where<Flight>?

  init(
    _ format: String,
    _ arguments: [any PredicateArgument] = [],
    keyPath: Where<Flight>? = nil,
    _ closure: (ValueExpression<Flight, Flight>) -> Where<Flight>
  ) {
    self.format = format
    self.arguments = arguments.map(\._predicateArgument)
    self.keyPath = keyPath
    self.closure = Where(closure)
  }

  var testDescription: String { format }
}

extension FormatArgument: PredicateArgument {
  public var _predicateArgument: FormatArgument { self }
}

struct SpellingTests {
  static let all: [Spelling] = [comparisons, combinations, stringConditions, lists, objects].flatMap { $0 }

  @Test(arguments: all)
  func allSpellingsMakeTheSameTree(_ spelling: Spelling) throws {
    let text = try Where<Flight>(format: spelling.format, arguments: spelling.arguments)
    #expect(try spelling.closure.tree == text.tree)
    if let keyPath = spelling.keyPath { #expect(try keyPath.tree == text.tree) }
  }

  static let missing: Int? = nil

  static let comparisons: [Spelling] = [
    Spelling("month == 1", keyPath: \.month == 1) { $0.month == 1 },
    Spelling("month != %d", [1], keyPath: \.month != 1) { $0.month != 1 },
    Spelling("month < 3", keyPath: \.month < 3) { $0.month < 3 },
    Spelling("month <= 3", keyPath: \.month <= 3) { $0.month <= 3 },
    Spelling("month > 3", keyPath: \.month > 3) { $0.month > 3 },
    Spelling("month >= 3", keyPath: \.month >= 3) { $0.month >= 3 },
    Spelling("day == -7", keyPath: \.day == -7) { $0.day == -7 },
    Spelling("seats == 18446744073709551615", keyPath: \.seats == .max) { $0.seats == .max },
    Spelling("delay > 120.5", keyPath: \.delay > 120.5) { $0.delay > 120.5 },
    Spelling("delay <= %f", [120.5], keyPath: \.delay <= 120.5) { $0.delay <= 120.5 },
    Spelling("depTime == nil", keyPath: \.depTime == nil) { $0.depTime == nil },
    Spelling("depTime != NULL", keyPath: \.depTime != nil) { $0.depTime != nil },
    Spelling("depTime == %@", [missing], keyPath: \.depTime == missing) { $0.depTime == missing },
    Spelling("depTime < %@", [missing], keyPath: \.depTime < missing) { $0.depTime < missing },
    Spelling("isLate == YES", keyPath: \.isLate == true) { $0.isLate == true },
    Spelling("isLate", keyPath: \.isLate == true) { $0.isLate == true },
    Spelling("isLate", keyPath: Where(\.isLate)) { $0.isLate },
    Spelling("isFull", keyPath: Where(\.isFull)) { $0.isFull },
    Spelling("origin.isOpen", keyPath: Where(\.origin?.isOpen)) { $0.origin.isOpen },
    Spelling("TERNARY(isFull == nil, TRUE, isFull) == TRUE") { $0.isFull ?? true },
    Spelling("isLate == isFull AND isLate == nil") { $0.isLate == $0.isFull && $0.isLate == nil },
    Spelling("cabin == 3", keyPath: \.cabin == .first) { $0.cabin == .first },
    Spelling("cabin < %@", [Cabin.first], keyPath: \.cabin < .first) { $0.cabin < .first },
    Spelling("status == 'cancelled'", keyPath: \.status == .cancelled) { $0.status == .cancelled },
    Spelling("departed > %@", [Date(timeIntervalSinceReferenceDate: 9)]) {
      $0.departed > Date(timeIntervalSinceReferenceDate: 9)
    },
    Spelling("blob == %@", [Data([1, 2])], keyPath: \.blob == Data([1, 2])) { $0.blob == Data([1, 2]) },
    Spelling("month == day", []) { $0.month.matchesPath("day") },
  ]

  static let combinations: [Spelling] = [
    Spelling("month == 1 AND day == 1", keyPath: \.month == 1 && \.day == 1) { $0.month == 1 && $0.day == 1 },
    Spelling(
      "month == 1 AND day == 1 OR day == 2 AND month == 2",
      keyPath: \.month == 1 && \.day == 1 || \.day == 2 && \.month == 2
    ) { $0.month == 1 && $0.day == 1 || $0.day == 2 && $0.month == 2 },
    Spelling("month == 1 AND (day == 1 OR day == 2)", keyPath: \.month == 1 && (\.day == 1 || \.day == 2)) {
      $0.month == 1 && ($0.day == 1 || $0.day == 2)
    },
    Spelling("(month == 1 AND day == 1) AND day == 2") { $0.month == 1 && ($0.day == 1 && $0.day == 2) },
    Spelling("NOT month == 1 OR day == 1", keyPath: !(\.month == 1) || \.day == 1) {
      !($0.month == 1) || $0.day == 1
    },
    Spelling("NOT (month == 1 OR day == 1)", keyPath: !(\.month == 1 || \.day == 1)) {
      !($0.month == 1 || $0.day == 1)
    },
    Spelling("NOT NOT month == 1") { !(!($0.month == 1)) },
    Spelling("NOT isLate AND month > 3") { !$0.isLate && $0.month > 3 },
    Spelling("month > 3 OR isFull OR NOT origin.isOpen") { $0.month > 3 || $0.isFull || !$0.origin.isOpen },
    Spelling("isLate AND isFull AND NOT (isLate OR isFull)") {
      $0.isLate && $0.isFull && !($0.isLate || $0.isFull)
    },
    Spelling("SUBQUERY(legs, $e1, $e1.isShort AND isLate).@count > 0") { flight in
      flight.legs.any { $0.isShort && flight.isLate }
    },
    Spelling("SUBQUERY(legs, $e1, NOT $e1.isShort).@count == 0") { $0.legs.all { $0.isShort } },
    Spelling("SUBQUERY(legs, $e1, $e1.flight.isFull).@count == 0") { $0.legs.none { $0.flight.isFull } },
    Spelling("SUBQUERY(legs, $e1, NOT $e1.isShort).@count > 2") { $0.legs.count { !$0.isShort } > 2 },
    Spelling("SUBQUERY(legs, $e1, $e1.isShort).@sum.minutes > 2") {
      $0.legs.filter { $0.isShort }.sum(\.minutes) > 2
    },
    Spelling("TRUEPREDICATE OR month == 1") { Where(true) || $0.month == 1 },
  ]

  static let stringConditions: [Spelling] = [
    Spelling("title BEGINSWITH 'Ca'", keyPath: (\Flight.title).hasPrefix("Ca")) { $0.title.hasPrefix("Ca") },
    Spelling("tailnum BEGINSWITH[c] 'n'") { $0.tailnum.starts(with: "n", .caseInsensitive) },
    Spelling("SUBQUERY(legs, $e1, $e1.flight.title BEGINSWITH 'Ca').@count > 0") {
      $0.legs.any { $0.flight.title.starts(with: "Ca") }
    },
    Spelling("tailnum ENDSWITH[c] 'x'", keyPath: (\Flight.tailnum).hasSuffix("x", .caseInsensitive)) {
      $0.tailnum.hasSuffix("x", .caseInsensitive)
    },
    Spelling("title CONTAINS %@", ["a' OR 1 == 1"], keyPath: (\Flight.title).contains("a' OR 1 == 1")) {
      $0.title.contains("a' OR 1 == 1")
    },
    Spelling("'x' IN title") { $0.title.contains("x") },
    Spelling("title ==[c] 'x'") { $0.title.equals("x", .caseInsensitive) },
    Spelling("title ==[d] 'x'") { $0.title.equals("x", .diacriticInsensitive) },
    Spelling("title LIKE[c] 'Ca*'", keyPath: (\Flight.title).like("Ca*", .caseInsensitive)) {
      $0.title.like("Ca*", .caseInsensitive)
    },
    Spelling("tailnum MATCHES 'N[0-9]+'", keyPath: (\Flight.tailnum).matches("N[0-9]+")) {
      $0.tailnum.matches("N[0-9]+")
    },
    Spelling("title CONTAINS[cd] 'x'", keyPath: (\Flight.title).localizedStandardContains("x")) {
      $0.title.localizedStandardContains("x")
    },
    Spelling("title IN[c] {'x', nil}") { $0.title.in(["x", nil], .caseInsensitive) },
    Spelling("origin.name == 'JFK'", keyPath: \.origin?.name == "JFK") { $0.origin.name == "JFK" },
    Spelling("origin.city.title == nil", keyPath: \.origin?.city?.title == nil) {
      $0.origin.city.title == nil
    },
    Spelling("%K.%K == 'JFK'", ["origin", "name"]) { $0.origin.name == "JFK" },
  ]

  static let lists: [Spelling] = [
    Spelling("month IN {1, 2}", keyPath: [1, 2] ~= \.month) { [1, 2].contains($0.month) },
    Spelling("month IN %@", [[1, 2]]) { $0.month.in([1, 2]) },
    Spelling("month IN %@", [Set([7])]) { Set([7]).contains($0.month) },
    Spelling("depTime IN {1, nil}", keyPath: [1, nil] ~= \.depTime) { [1, nil].contains($0.depTime) },
    Spelling("{1, 2} CONTAINS month") { $0.month.in([1, 2]) },
    Spelling("month BETWEEN {1, 3}", keyPath: 1...3 ~= \.month) { (1...3).contains($0.month) },
    Spelling("month BETWEEN %@", [[1, 3]]) { $0.month.between(1...3) },
    Spelling("month IN %@", [1...3]) { $0.month.between(1...3) },
    Spelling("month >= 1 AND month < 3", keyPath: 1..<3 ~= \.month) { (1..<3).contains($0.month) },
    Spelling("delay >= 1.5", keyPath: 1.5... ~= \.delay) { (1.5...).contains($0.delay) },
    Spelling("delay <= 1.5", keyPath: ...1.5 ~= \.delay) { (...1.5).contains($0.delay) },
    Spelling("delay < 1.5", keyPath: ..<1.5 ~= \.delay) { (..<1.5).contains($0.delay) },
  ]

  static let objects: [Spelling] = [
    Spelling("origin == %@", [Airport(number: 7)], keyPath: \.origin == Airport(number: 7)) {
      $0.origin == Airport(number: 7)
    },
    Spelling("origin == %@", [Airport(number: 7)], keyPath: \.origin == AirportID(number: 7)) {
      $0.origin == AirportID(number: 7)
    },
    Spelling("origin == nil", keyPath: \.origin == nil) { $0.origin == nil },
    Spelling("origin != dest") { $0.origin != $0.dest },
    Spelling("SELF == %@", [Flight()]) { $0 == Flight() },
    Spelling("SELF IN %@", [[Flight()]]) { [Flight()].contains($0) },
    Spelling(
      "dest IN %@",
      [[Airport(number: 1), Airport(number: 2)]],
      keyPath: [Airport(number: 1), Airport(number: 2)] ~= \.dest
    ) {
      [Airport(number: 1), Airport(number: 2)].contains($0.dest)
    },
  ]

  @Test func aMistakeInAKeyPathIsThrownWhenTheTreeIsAskedFor() {
    let condition = Where<Flight> { $0.month == 1 && $0.notes == "" }
    #expect(throws: QueryError.self) { try condition.tree }
    #expect(performing { () throws(QueryError) in _ = try condition.tree }?.code == .keyPath)
  }

  @Test func integersOfDifferentTypesAreComparedAsInts() throws {
    let product = Where<Flight> { $0.month * 3 > $0.day.int }
    #expect(try product.tree == PredicateTree(format: "month * 3 > day"))
    let large = Where<Flight> { $0.seats.int != $0.day.int * 60 }
    #expect(try large.tree == PredicateTree(format: "seats != day * 60"))
  }

  @Test func anObjectWithoutAnIdentityIsRefused() {
    let condition = Where<Flight> { $0.origin == Airport(number: nil) }
    #expect(performing { () throws(QueryError) in _ = try condition.tree }?.code == .arguments)
    #expect(
      performing { () throws(QueryError) in
        _ = try Where<Flight>(format: "origin == %@", Airport(number: nil))
      }?
      .column == 10
    )
  }

  @Test func combiningTooDeeplyIsAnErrorAndNotACrash() {
    var condition = Where<Flight> { $0.month == 1 }
    for number in 0..<100_000 {
      let next = Where<Flight> { $0.day == Int8(truncatingIfNeeded: number) }
      condition = number.isMultiple(of: 2) ? condition && next : condition || next
    }
    #expect(performing { () throws(QueryError) in _ = try condition.tree }?.code == .tooComplex)
  }

  @Test func aLongFlatDisjunctionIsNotDeep() throws {
    var condition = Where<Flight>(false)
    for month in 0..<500 { condition = condition || Where { $0.month == month } }
    guard case .or(let children) = try condition.tree else {
      Issue.record("not a disjunction")
      return
    }
    #expect(children.count == 501)
  }
}

extension ValueExpression where Root == Flight, Value == Int {
  /// A comparison with another path of the same type, which the tests name by text.
  fileprivate func matchesPath(_ name: String) -> Where<Flight> {
    Where(.comparison(.path(["month"]), .equal, .path([name]), []))
  }
}

/// The error that the body throws.
func performing(_ body: () throws(QueryError) -> Void) -> QueryError? {
  do throws(QueryError) {
    try body()
    return nil
  } catch {
    return error
  }
}
