import Foundation
import Predicates
import TestSupport
import Testing

struct PrintingTests {
  private static func operand(_ random: inout SeededGenerator) -> PredicateOperand {
    switch random.number(in: 0...9) {
    case 0...3: return .path(RandomValues.names(&random))
    case 4: return .object
    case 5:
      return .reference(
        ObjectReference(entity: RandomValues.text(&random), number: ObjectNumber(rawValue: random.next()))
      )
    case 6:
      // Digits beyond a Double's.
      let digits = DecimalDigits("-1.\(random.next())\(random.next())e\(random.number(in: -60...60))")
      return digits.map { PredicateOperand(.digits($0)) } ?? .object
    default: return .value(RandomValues.value(&random))
    }
  }

  private static func leaf(_ random: inout SeededGenerator) -> PredicateTree {
    let options: StringOptions =
      random.chance(1, in: 3) ? StringOptions(rawValue: UInt8(random.number(in: 1...7))) : []
    switch random.number(in: 0...4) {
    case 0:
      let elements = (0..<random.number(in: 0...4)).map { _ in operand(&random) }
      return .membership(operand(&random), elements, options)
    case 1:
      return .between(operand(&random), operand(&random), operand(&random))
    default:
      return .comparison(
        operand(&random),
        random.pick(ComparisonOperator.allCases),
        operand(&random),
        options
      )
    }
  }

  @Test func randomTreesPrintAsTextThatParsesToTheSameTree() throws {
    var trees = RandomTrees(random: SeededGenerator(), leaf: Self.leaf)
    for _ in 0..<TestEffort.times(2_000) {
      let tree = trees.tree(depth: 5)
      let text = tree.description
      #expect(try PredicateTree(format: text) == tree, "\(text)")
    }
  }

  @Test func randomTreesSurviveAnArchive() throws {
    var trees = RandomTrees(random: SeededGenerator(), leaf: Self.leaf)
    for _ in 0..<300 {
      let tree = trees.tree(depth: 4)
      let data = try JSONEncoder().encode(tree)
      #expect(try JSONDecoder().decode(PredicateTree.self, from: data) == tree)
    }
  }

  /// Without braces the text would ask for the least value of several objects.
  @Test(arguments: ["min({month}) > 2", "sum({5}) == 5", "max({month + 1}) > average({max({2})})"])
  func aFunctionOfSeveralValuesKeepsTheBracesAroundASingleOne(_ text: String) throws {
    let tree = try PredicateTree(format: text)
    #expect(tree.description == text)
    #expect(try PredicateTree(format: tree.description) == tree)
  }

  /// Foundation's `#Predicate` makes any index.
  @Test(arguments: [0, 1, -1, Int.max, Int.min])
  func anIndexKeepsItsSign(_ index: Int) throws {
    let collection = PredicateCollection(names: ["legs"], element: ["minutes"])
    let element = PredicateOperand(.aggregate(.element(index), collection))
    let tree = PredicateTree.comparison(element, .equal, .value(.int(1)), [])
    #expect(try PredicateTree(format: tree.description) == tree, "\(tree)")
  }

  @Test func aConditionIsArchivedAsItsText() throws {
    let condition = Where<Flight> { $0.month == 1 && $0.origin == Airport(number: 7) }
    let data = try JSONEncoder().encode([condition])
    #expect(try JSONDecoder().decode([String].self, from: data) == [condition.description])
    let copy = try #require(try JSONDecoder().decode([Where<Flight>].self, from: data).first)
    #expect(try copy.tree == condition.tree)
  }

  @Test func aMistakeIsNotArchived() {
    let condition = Where<Flight> { $0.notes == "" }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([condition]) }
  }

  @Test func aDamagedArchiveIsAnError() {
    for text in ["\"month == \"", "1"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(PredicateTree.self, from: Data(text.utf8))
      }
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Where<Flight>.self, from: Data(text.utf8))
      }
    }
  }

  @Test func treesOutsideCanonicalFormPrintWhatTheyMean() throws {
    let one = try PredicateTree(format: "a == 1")
    #expect(PredicateTree.and([]).description == "TRUEPREDICATE")
    #expect(PredicateTree.or([]).description == "FALSEPREDICATE")
    #expect(PredicateTree.not(.and([one])).description == "NOT a == 1")
    #expect(PredicateTree.and([one, .or([])]).description == "a == 1 AND FALSEPREDICATE")
    #expect(PredicateTree.not(.or([one, one])).description == "NOT (a == 1 OR a == 1)")
  }
}
