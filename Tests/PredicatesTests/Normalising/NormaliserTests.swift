import Foundation
import Testing

@testable import Predicates

struct NormaliserTests {
  private let entity = EntitySchema(
    id: EntityID(0),
    name: "Thing",
    stored: [
      StoredProperty(name: "n", slot: 0, kind: .int16, isOptional: true),
      StoredProperty(name: "d", slot: 1, kind: .double, isOptional: true),
      StoredProperty(name: "s", slot: 2, kind: .string, isOptional: true),
      StoredProperty(name: "b", slot: 3, kind: .bool, isOptional: true),
    ],
    toMany: [],
    indexes: []
  )

  private struct Alone: SchemaProviding {
    let entity: EntitySchema

    func entitySchema(named name: String) -> EntitySchema? { nil }
    func entitySchema(_ id: EntityID) -> EntitySchema { entity }
  }

  private func normal(_ format: String) throws -> String {
    let resolved = try PredicateTree(format: format).resolved(for: entity, in: Alone(entity: entity))
    return Normaliser.normalise(resolved).description
  }

  @Test func comparisonsOfAnAttributeBecomeOneRange() throws {
    #expect(try normal("n > 3 AND n <= 9 AND n != 20") == "n BETWEEN {4, 9}")
    #expect(try normal("n > 3 AND n < 5") == "n == 4")
    #expect(try normal("n < 3 OR n == 3 OR n == 4") == "n <= 4")
    #expect(try normal("d > 3 AND d < 9") == "d > 3.0 AND d < 9.0")
    #expect(try normal("n == 1 OR n IN {5, 3} OR n == 1") == "n IN {1, 3, 5}")
    #expect(try normal("n IN {1, 2} AND n IN {2, 3}") == "n == 2")
  }

  @Test func negationMovesDownToTheComparisons() throws {
    #expect(try normal("NOT (n > 3 AND s == \"a\")") == "NOT n >= 4 OR s != \"a\"")
    #expect(try normal("NOT (NOT n == 3)") == "n == 3")
    #expect(try normal("NOT (n == nil OR s CONTAINS \"x\")") == "n != nil AND NOT s CONTAINS \"x\"")
    #expect(try normal("NOT d < 3") == "NOT d < 3.0")
  }

  @Test func bracketsOfAKindBecomeOne() throws {
    #expect(
      try normal("n == 1 AND (s == \"a\" AND (d == 1 AND b == TRUE))")
        == "n == 1 AND s == \"a\" AND d == 1.0 AND b == TRUE"
    )
    #expect(try normal("(n == 1 OR s == \"a\") AND d == 2") == "(n == 1 OR s == \"a\") AND d == 2.0")
  }

  @Test func whatCannotBeOrMustBeIsFolded() throws {
    #expect(try normal("n > 3 AND n < 3") == "FALSEPREDICATE")
    #expect(try normal("n > 3 OR NOT n > 3") == "TRUEPREDICATE")
    #expect(try normal("s CONTAINS \"x\" AND NOT s CONTAINS \"x\"") == "FALSEPREDICATE")
    #expect(try normal("s CONTAINS \"x\" OR NOT s CONTAINS \"x\"") == "TRUEPREDICATE")
    #expect(try normal("n == 1 AND TRUEPREDICATE") == "n == 1")
    #expect(try normal("b == TRUE OR b == FALSE") == "b != nil")
    #expect(try normal("n == nil OR n != nil") == "TRUEPREDICATE")
  }

  @Test func prefixesAreRanges() throws {
    #expect(try normal("s BEGINSWITH \"ab\" AND s >= \"abx\"") == "s >= \"abx\" AND s < \"ac\"")
    #expect(try normal("s BEGINSWITH \"ab\" AND s BEGINSWITH \"a\"") == "s BEGINSWITH \"ab\"")
    #expect(try normal("s BEGINSWITH \"\"") == "s != nil")
  }

  @Test func foldedComparisonsAreSetsOfFoldedValues() throws {
    #expect(try normal("s >[c] \"B\" AND s <=[c] \"D\"") == "s >[c] \"b\" AND s <=[c] \"d\"")
    #expect(try normal("s ==[cd] \"É\" OR s ==[dcn] \"e\"") == "s ==[cd] \"e\"")
    #expect(try normal("s IN[c] {\"A\", \"a\", \"B\"}") == "s IN[c] {\"a\", \"b\"}")
    #expect(try normal("NOT s BEGINSWITH[d] \"É\"") == "NOT s BEGINSWITH[d] \"E\"")
    #expect(try normal("s !=[n] \"e\u{301}\"") == "s !=[n] \"é\"")
    #expect(
      try normal("s ==[c] \"a\" AND s == \"a\" AND s ==[d] \"a\"").hasPrefix(
        "s ==[c] \"a\" AND s == \"a\" AND"
      )
    )
    #expect(try normal("s ==[c] \"a\" AND NOT s ==[c] \"A\"") == "FALSEPREDICATE")
    #expect(try normal("s BEGINSWITH[c] \"\" OR s == nil") == "TRUEPREDICATE")
  }

  @Test func aPatternSaysWhatItCanAsARange() throws {
    #expect(try normal("s LIKE \"ab*\"") == "s BEGINSWITH \"ab\"")
    #expect(try normal("s LIKE \"ab\"") == "s == \"ab\"")
    #expect(try normal("s LIKE \"a\\\\*\"") == "s == \"a*\"")
    #expect(try normal("s LIKE \"*\"") == "s != nil")
    #expect(try normal("s LIKE[cd] \"Éa**\"") == "s BEGINSWITH[cd] \"ea\"")
    #expect(try normal("s LIKE \"ab?c*\"") == "s BEGINSWITH \"ab\" AND s LIKE \"ab?c*\"")
    #expect(try normal("s LIKE \"*ab\"") == "s LIKE \"*ab\"")
    #expect(try normal("NOT s LIKE \"ab*c\"") == "NOT s LIKE \"ab*c\"")
  }
}

struct LargePredicateTests {
  @Test func tenThousandAlternativesAreOneSet() {
    let path = ResolvedPath(hops: [], leaf: .slot(0, .int64), isOptional: true, name: "n")
    let many = (0..<10_000).map { ResolvedPredicate.compare(path, .equal, .int(Int64($0 * 2)), []) }
    guard case .values(_, let set) = Normaliser.normalise(.or(many)) else {
      Issue.record("the alternatives were not merged")
      return
    }
    #expect(set.segmentCount == 10_000)
    #expect(set.contains(.int(19_998)))
    #expect(!set.contains(.int(19_999)))
    #expect(Normaliser.normalise(.and(many)) == .constant(false))
  }
}

struct ValueSetTests {
  @Test func theLeastAndTheGreatestValueAreMembers() {
    let extremes: [(AttributeKind, [AttributeValue])] = [
      (.int8, [.int(-128), .int(127)]), (.uint64, [.int(0), .uint(.max)]),
      (.bool, [.bool(false), .bool(true)]),
      (.double, [.double(-.infinity), .double(.infinity)]), (.string, [.string("")]),
      (.int64, [.int(.min), .int(.max)]),
    ]
    for (kind, values) in extremes {
      for value in values {
        let only = ValueSet(kind, only: value)
        #expect(only.point == value)
        #expect(only.contains(value))
        #expect(!only.contains(.null))
        #expect(!only.complement.contains(value))
        #expect(only.union(only.complement).isEverything)
        #expect(only.intersection(only.complement).isEmpty)
      }
    }
  }

  @Test func aValueBeyondTheKindIsNoMember() {
    #expect(ValueSet(.int8, only: .int(128)).isEmpty)
    #expect(ValueSet(.int64, only: .uint(.max)).isEmpty)
    #expect(ValueSet(.int8, from: .afterNull, to: .before(.int(1_000))) == .comparable(.int8))
  }

  @Test func notANumberIsOutsideEveryRange() {
    let all = ValueSet.comparable(.double)
    #expect(all.contains(.double(.infinity)))
    #expect(all.contains(.double(-0.0)))
    #expect(!all.contains(.double(.nan)))
    #expect(all.complement.segments.map(\.point) == [.null, .double(.nan)])
  }

  @Test func negativeZeroIsZero() {
    #expect(ValueSet(.double, only: .double(-0.0)) == ValueSet(.double, only: .double(0)))
  }

  @Test func aPrefixHasEveryStringThatBeginsWithIt() throws {
    let last = "a\u{10FFFF}\u{10FFFF}"
    for (prefix, inside, outside) in [
      ("a", last, "b"), ("a\u{D7FF}", "a\u{D7FF}z", "a\u{E000}"), ("\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "z"),
      ("a\u{10FFFF}", last, "b"),
    ] {
      let set = try #require(PrefixRange.values(.string, beginningWith: .string(prefix)))
      #expect(set.contains(.string(prefix)))
      #expect(set.contains(.string(inside)))
      #expect(!set.contains(.string(outside)))
    }
  }
}
