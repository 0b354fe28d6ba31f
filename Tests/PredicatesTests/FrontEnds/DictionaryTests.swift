import Foundation
import Predicates
import Testing

/// Conditions that are spelled as dictionaries.
struct DictionaryTests {
  struct Pair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let dictionary: Where<Flight>

    init(_ format: String, _ dictionary: Where<Flight>) {
      testDescription = format
      self.dictionary = dictionary
    }
  }

  static let late: Double? = 120.5
  static let missing: Int? = nil
  static let jfk = AirportID(number: 7)

  @Test(arguments: [
    Pair("month == 1", ["month": 1]),
    Pair(
      "tailnum == \"N1\" AND isLate == TRUE AND month == 2",
      ["tailnum": "N1", "isLate": true, "month": 2]
    ),
    Pair("month BETWEEN {1, 3}", ["month": 1...3]),
    Pair("month >= 1 AND month < 3", ["month": 1..<3]),
    Pair("month >= 3", ["month": 3...]),
    Pair("month <= 3", ["month": ...3]),
    Pair("month < 3", ["month": ..<3]),
    Pair("month IN {1, 2}", ["month": [1, 2]]),
    Pair("month IN {5}", ["month": Set([5])]),
    Pair("depTime IN {1, nil}", ["depTime": [1, missing]]),
    Pair("month IN {}", ["month": [Int]()]),
    Pair("depTime == nil AND origin.name == nil", ["depTime": nil, "origin.name": nil]),
    Pair("delay == 120.5 AND depTime == nil", ["delay": late, "depTime": missing]),
    Pair(
      "cabin == 3 AND status IN {\"planned\", \"departed\"}",
      [
        "cabin": Cabin.first, "status": [Status.planned, .departed],
      ]
    ),
    Pair("origin == CAST(\"Airport/7\", \"ObjectID\")", ["origin": jfk]),
    Pair("dest IN {CAST(\"Airport/7\", \"ObjectID\")}", ["dest": [jfk]]),
    Pair("origin.faa >= \"A\" AND origin.faa < \"C\"", ["origin.faa": "A"..<"C"]),
    Pair("SELF == CAST(\"Flight/7\", \"ObjectID\")", ["SELF": ObjectStandIn(entity: "Flight")]),
    Pair("SELF.month == 1", ["self.month": 1]),
    Pair("TRUEPREDICATE", [:]),
    Pair(
      "month == 1 AND day == 2 OR month == 2",
      (["month": 1, "day": Int8(2)] as Where<Flight>).or(["month": 2])
    ),
    Pair("month == 1 AND isLate == FALSE", Where<Flight>(["month": 1]).and(["isLate": false])),
  ])
  func aDictionaryMakesTheTreeOfItsText(_ pair: Pair) throws {
    #expect(try pair.dictionary.tree == Where<Flight>(format: pair.testDescription).tree)
    #expect(throws: Never.self) {
      try pair.dictionary.tree.resolved(for: FlightSchema.flight, in: FlightSchema.shared)
    }
  }

  /// A value that stands for object 7.
  struct ObjectStandIn: ObjectReferencing {
    let entity: String
    var objectReference: ObjectReference? { ObjectReference(entity: entity, number: 7) }
  }

  @Test func aDictionaryMadeAtRunTimeIsInTheOrderOfItsKeys() throws {
    var dictionary: [String: (any PredicateArgument)?] = [:]
    for name in ["title", "delay", "month"] { dictionary.updateValue(nil, forKey: name) }
    dictionary["month"] = 4...
    let condition = Where<Flight>(dictionary)
    #expect(condition.description == "delay == nil AND month >= 4 AND title == nil")
  }

  @Test func itCombinesWithOtherSpellings() throws {
    let condition = ["month": 1...2] && \Flight.isLate == true || Where<Flight> { $0.day > 3 }
    #expect(condition.description == "month BETWEEN {1, 2} AND isLate == TRUE OR day > 3")
  }

  @Test func ranges() throws {
    // A half-open range is not the closed one for a number with a fraction.
    let resolved = try Where<Flight>(["delay": 0..<1.0]).tree
      .resolved(for: FlightSchema.flight, in: FlightSchema.shared)
    let text = try PredicateTree(format: "delay >= 0.0 AND delay < 1.0")
      .resolved(for: FlightSchema.flight, in: FlightSchema.shared)
    #expect(resolved == text)
  }

  @Test(
    arguments: [
      (["moth": 1], QueryError.Code.unknownName, "moth", "Did you mean “month”?"),
      (["month": "May"], .typeMismatch, "month", "an Int"),
      (["month": ["May"]], .typeMismatch, "month", "an Int"),
      (["title": 1...2], .typeMismatch, "title", "a string"),
      (["origin.name": 5], .typeMismatch, "origin.name", "a string"),
      (["origin": 5], .typeMismatch, "origin", "an object"),
      (["origin": ObjectStandIn(entity: "Leg")], .typeMismatch, "origin", "never to Leg"),
      (["legs": 1], .typeMismatch, "legs", "many objects"),
      (["month.day": 1], .typeMismatch, "month.day", "no property"),
      (["origin..name": 1], .keyPath, "origin..name", "no key path"),
      (["": 1], .keyPath, "", "no key path"),
      (["origin": Airport(number: nil)], .arguments, "origin", "provisional ID"),
      (["month": [[1, 2]]], .arguments, "month", "no lists"),
    ] as [(Where<Flight>, QueryError.Code, String, String)]
  )
  func mistakesNameTheKeyPath(
    _ condition: Where<Flight>,
    _ code: QueryError.Code,
    _ keyPath: String,
    _ words: String
  ) throws {
    let error = #expect(throws: QueryError.self) {
      try condition.tree.resolved(for: FlightSchema.flight, in: FlightSchema.shared)
    }
    #expect(error?.code == code && error?.keyPath == keyPath, "\(String(describing: error))")
    #expect(error?.message.contains(words) == true, "\(String(describing: error))")
  }

  @Test func aPlaceholderTakesClosedRangesOnly() throws {
    #expect(try Where<Flight>(format: "month IN %@", 1...3).description == "month BETWEEN {1, 3}")
    let error = #expect(throws: QueryError.self) { try Where<Flight>(format: "month IN %@", 1..<3) }
    #expect(error?.code == .arguments && error?.column == 9)
  }
}
