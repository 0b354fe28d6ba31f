import Testing

@testable import Predicates

/// The printed form of plans, for common kinds of queries over 3,360 departures, to ten places. The year has twelve
/// months of 28 days, and each day has ten departures.
struct PlanTextTests {
  private static let world: PlainWorld = {
    let attributes: [(String, AttributeKind)] = [
      ("month", .int16), ("day", .int8), ("delay", .int32), ("carrier", .string), ("title", .string),
      ("fare", .double),
    ]
    let places: [(String, AttributeKind)] = [("code", .string), ("height", .int32), ("weight", .double)]
    func described(_ list: [(String, AttributeKind)]) -> [PlainWorld.Attribute] {
      list.map { PlainWorld.Attribute(name: $0.0, kind: $0.1, pool: []) }
    }
    let things = (0..<3_360).map { place in
      let values: [String: Plain] = [
        "month": .whole(Int128(place / 280 + 1)), "day": .whole(Int128(place / 10 % 28 + 1)),
        "delay": place % 100 == 0 ? .missing : .whole(Int128(place * 7 % 1_000 - 50)),
        "carrier": .text(["AA", "B6", "DL", "UA", "UAX"][place % 5]), "title": .text("departure \(place)"),
        "fare": .real(Double(place % 250)), "place": .link(UInt64(place % 10 + 1)),
      ]
      return (number: UInt64(place + 1), values: values)
    }
    let codes = ["ATL", "BOS", "DEN", "HOU", "IAH", "LAX", "MIA", "ORD", "SEA", "SFO"]
    let destinations = codes.enumerated().map { place, code in
      let values: [String: Plain] = [
        "code": .text(code), "height": .whole(Int128(place * 10)), "weight": .real(0),
      ]
      return (number: UInt64(place + 1), values: values)
    }
    return PlainWorld(
      attributes: ["Thing": described(attributes), "Place": described(places)],
      rows: ["Thing": things, "Place": destinations]
    )
  }()

  private static let indexes = [["month", "day"], ["delay"], ["carrier"], ["fare"], ["place", "fare"]]
    .map { PlainIndex(columns: $0) }

  private func plan(
    _ format: String,
    sort: [(String, Bool)] = [],
    limit: Int? = nil,
    offset: Int = 0,
    indexed: Bool = true,
    moreIndexes: [PlainIndex] = []
  ) throws -> String {
    let translation = Translation(Self.world, indexes: (indexed ? Self.indexes : []) + moreIndexes)
    let store = ArrayStore(Self.world, translation)
    let predicate = try PredicateTree(format: format).resolved(for: translation.fetched, in: translation)
    let query = ResolvedQuery(
      entity: translation.fetched,
      predicate: predicate,
      sort: sort.map { ResolvedSort(translation.path([$0.0]), ascending: $0.1) },
      limit: limit,
      offset: offset
    )
    return try QueryPlanner(schema: translation, counting: store).plan(query).explanation.description
  }

  @Test func twoEqualitiesAreOneRangeOfACompoundIndex() throws {
    #expect(
      try plan("month == 1 AND day == 1") == """
        Thing: index range, 10 rows
          index month,day, month == 1 AND day == 1: 10 rows (exact)
          order: in index order
        """
    )
  }

  @Test func anEqualityAndARangeAreOneRangeOfACompoundIndex() throws {
    #expect(
      try plan("day > 20 AND month == 3 AND day <= 22 AND title CONTAINS \"9\"") == """
        Thing: index range, 20 rows
          index month,day, month == 3 AND day BETWEEN {21, 22}: 20 rows (exact)
          filter: title CONTAINS "9"
          order: sorted by object ID
        """
    )
  }

  @Test func aListIsSeveralPoints() throws {
    #expect(
      try plan("month IN {1, 12, 7, 1} AND day == 2") == """
        Thing: index range, 30 rows
          index month,day, month == 1 AND day == 2: 10 rows (exact)
          index month,day, month == 7 AND day == 2: 10 rows (exact)
          index month,day, month == 12 AND day == 2: 10 rows (exact)
          order: sorted by object ID
        """
    )
  }

  @Test func aShortRangeIsTakenApartForTheNextColumn() throws {
    #expect(
      try plan("month BETWEEN {11, 12} AND day == 2") == """
        Thing: index range, 20 rows
          index month,day, month == 11 AND day == 2: 10 rows (exact)
          index month,day, month == 12 AND day == 2: 10 rows (exact)
          order: sorted by object ID
        """
    )
  }

  @Test func alternativesAreAUnionOfIndexes() throws {
    #expect(
      try plan("(month == 1 AND day == 1) OR delay > 940") == """
        Thing: union of index ranges, 39 rows
          index month,day, month == 1 AND day == 1: 10 rows (exact)
          index delay, delay >= 941: 29 rows (exact)
          order: in order of object ID
        """
    )
  }

  @Test func rangesOfTwoIndexesAreIntersectedWhereThatSparesRecords() throws {
    #expect(
      try plan("carrier == \"UA\" AND fare < 50 AND delay >= 400", sort: [("title", true)]) == """
        Thing: intersection of index ranges, 672 rows
          index carrier, carrier == "UA": 672 rows (exact)
          index fare, fare < 50.0: 700 rows (exact)
          matching: about 92 rows (estimated from 32 rows)
          filter: delay >= 400
          order: sorted by title ascending
        """
    )
    #expect(
      try plan("delay >= 300 AND fare < 100") == """
        Thing: intersection of index ranges, 1400 rows
          index fare, fare < 100.0: 1400 rows (exact)
          index delay, delay >= 300: 2140 rows (exact)
          matching: about 870 rows (estimated from 32 rows)
          order: in order of object ID
        """
    )
    // The first few matching rows are found soon.
    #expect(
      try plan("carrier == \"UA\" AND fare < 50", limit: 5) == """
        Thing: index range, 672 rows
          index carrier, carrier == "UA": 672 rows (exact)
          filter: fare < 50.0
          order: in index order
          limit 5
        """
    )
  }

  /// The title of every tenth flight has this ending, so a sample at even distances would find none of these flights,
  /// or many.
  @Test func howManyMatchIsSampledWhereTheChoiceDependsOnIt() throws {
    #expect(
      try plan("month <= 6 AND delay >= 0 AND title ENDSWITH \"3\"", sort: [("delay", true)], limit: 400)
        == """
        Thing: index range, 1680 rows
          index month,day, month <= 6: 1680 rows (exact)
          matching: about 229 rows (estimated from 32 rows)
          filter: delay >= 0 AND title ENDSWITH "3"
          order: sorted by delay ascending, keeping 400
          limit 400
        """
    )
  }

  @Test func aNegatedRangeIsTwoRangesAndTheMissing() throws {
    #expect(
      try plan("NOT delay BETWEEN {-45, 940}") == """
        Thing: index range, 77 rows
          index delay, delay == nil OR delay <= -46: 48 rows (exact)
          index delay, delay >= 941: 29 rows (exact)
          order: sorted by object ID
        """
    )
  }

  @Test func beginningWithIsARange() throws {
    #expect(
      try plan("carrier BEGINSWITH \"UAX\" AND fare < 2") == """
        Thing: index range, 28 rows
          index fare, fare < 2.0: 28 rows (exact)
          filter: carrier BEGINSWITH "UAX"
          order: sorted by object ID
        """
    )
    #expect(
      try plan("carrier BEGINSWITH \"UAX\"") == """
        Thing: index range, 672 rows
          index carrier, carrier BEGINSWITH "UAX": 672 rows (exact)
          order: sorted by object ID
        """
    )
  }

  @Test func aConditionOnARelatedObjectIsLookedUpFirst() throws {
    #expect(
      try plan("place.code == \"IAH\" OR place.code == \"HOU\"", sort: [("title", true)], limit: 5) == """
        Thing: index range, 672 rows
          first Place by index code, place.code IN {"HOU", "IAH"}: 2 rows (exact)
          index place,fare, place == CAST("4", "ObjectID"): 336 rows (exact)
          index place,fare, place == CAST("5", "ObjectID"): 336 rows (exact)
          order: sorted by title ascending, keeping 5
          limit 5
        """
    )
  }

  @Test func anIndexServesASortInBothDirections() throws {
    #expect(
      try plan("TRUEPREDICATE", sort: [("delay", true)], limit: 20, offset: 1_000) == """
        Thing: ordered scan, 3360 rows
          index delay, every row: 3360 rows (exact)
          order: in index order
          limit 20, offset 1000
        """
    )
    #expect(
      try plan("month == 5", sort: [("day", false)], limit: 20) == """
        Thing: index range, 280 rows
          index month,day, month == 5: 280 rows (exact)
          order: in index order, reversed
          limit 20
        """
    )
  }

  @Test func aSortThatNoIndexServesKeepsAsManyAsAreWanted() throws {
    #expect(
      try plan("delay > 900", sort: [("title", false)], limit: 3) == """
        Thing: index range, 161 rows
          index delay, delay >= 901: 161 rows (exact)
          order: sorted by title descending, keeping 3
          limit 3
        """
    )
  }

  @Test func withoutAnIndexEveryRowIsTested() throws {
    #expect(
      try plan("month == 1 AND NOT (day < 3 OR title == nil)", indexed: false) == """
        Thing: full scan, 3360 rows
          filter: month == 1 AND NOT day <= 2 AND title != nil
          order: in order of object ID
        """
    )
  }

  @Test func objectsAreFoundByTheirIDs() throws {
    #expect(
      try plan("SELF == CAST(\"7\", \"ObjectID\") AND month == 1") == """
        Thing: object IDs, 1 row
          filter: month == 1
          order: in order of object ID
        """
    )
  }

  @Test func aContradictionReadsNothing() throws {
    #expect(try plan("month == 1 AND month > 5") == "Thing: nothing, 0 rows")
    #expect(try plan("month > 5 AND month < 6") == "Thing: nothing, 0 rows")
  }

  @Test func aRangeOfHalfTheRowsIsNotWorthItsIndex() throws {
    #expect(
      try plan("fare > 3 AND title ENDSWITH \"7\"") == """
        Thing: full scan, 3360 rows
          filter: fare > 3.0 AND title ENDSWITH "7"
          order: in order of object ID
        """
    )
  }

  // MARK: Folded strings

  private static let folded = [
    PlainIndex(columns: ["carrier"], folding: .cd), PlainIndex(columns: ["title", "month"], folding: .c),
  ]

  @Test func aFoldedIndexServesComparisonsWithItsOptions() throws {
    #expect(
      try plan("carrier ==[cd] \"Uáx\"", moreIndexes: Self.folded) == """
        Thing: index range, 672 rows
          index carrier[cd], carrier ==[cd] "uax": 672 rows (exact)
          order: in index order
        """
    )
    #expect(
      try plan(
        "carrier IN[dc] {\"ua\", \"dl\"}",
        sort: [("title", true)],
        limit: 5,
        moreIndexes: Self.folded
      ) == """
        Thing: index range, 1344 rows
          index carrier[cd], carrier ==[cd] "dl": 672 rows (exact)
          index carrier[cd], carrier ==[cd] "ua": 672 rows (exact)
          order: sorted by title ascending, keeping 5
          limit 5
        """
    )
    #expect(
      try plan("carrier LIKE[cd] \"u*\" AND carrier >[cd] \"UA\"", moreIndexes: Self.folded) == """
        Thing: index range, 672 rows
          index carrier[cd], carrier >[cd] "ua" AND carrier <[cd] "v": 672 rows (exact)
          order: sorted by object ID
        """
    )
  }

  @Test func aPatternWithAPrefixIsARangeAndAFilter() throws {
    #expect(
      try plan("title LIKE[c] \"DEPARTURE 33?9\"", moreIndexes: Self.folded) == """
        Thing: index range, 71 rows
          index title,month[c], title BEGINSWITH[c] "departure 33": 71 rows (exact)
          filter: title LIKE[c] "DEPARTURE 33?9"
          order: sorted by object ID
        """
    )
  }

  @Test func otherOptionsAreNotServed() throws {
    for options in ["[c]", "[d]", "[n]"] {
      #expect(
        try plan("carrier ==[n] \"ua\"".replacing("[n]", with: options), moreIndexes: Self.folded)
          .hasPrefix("Thing: full scan")
      )
    }
    #expect(
      try plan("carrier == \"UA\"", moreIndexes: Self.folded).contains("index carrier, carrier == \"UA\"")
    )
    #expect(
      try plan("carrier == nil", indexed: false, moreIndexes: Self.folded).hasPrefix("Thing: full scan")
    )
  }

  @Test func aFoldedIndexIsInNoOrderOfStrings() throws {
    #expect(
      try plan("TRUEPREDICATE", sort: [("carrier", true)], limit: 3, indexed: false, moreIndexes: Self.folded)
        .hasPrefix("Thing: full scan")
    )
    #expect(
      try plan("title ==[c] \"Departure 7\"", sort: [("month", false)], moreIndexes: Self.folded) == """
        Thing: index range, 1 row
          index title,month[c], title ==[c] "departure 7": 1 row (exact)
          order: in index order, reversed
        """
    )
  }
}
