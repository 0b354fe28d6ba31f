import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Custom stages that convert an attribute to another kind.
struct ConvertedKindTests {
  private static let rules: [ConversionRule] = [.refusing, .clamping, .orNil]

  private func described(
    _ kind: AttributeKind,
    ofElements elementKind: AttributeKind? = nil,
    optional: Bool = true
  ) -> AttributeDescription {
    AttributeDescription(name: "value", kind: kind, elementKind: elementKind, isOptional: optional)
  }

  private func schema(_ attribute: AttributeDescription) throws -> Schema {
    try Schema(entities: [entity("Item", [.attribute(attribute)])])
  }

  /// Makes a store with an item for each value.
  private func store(_ attribute: AttributeDescription, _ values: [AttributeValue]) throws -> Store {
    let store = try Store.inMemory()
    let context = try openStaged(store, schema(attribute)).context()
    for value in values { try context.make("Item", ["value": value]) }
    try context.save()
    context.end()
    return store
  }

  /// Returns the values of items after a stage that converts their attribute.
  private func convert(
    _ values: [AttributeValue],
    of source: AttributeDescription,
    to attribute: AttributeDescription,
    _ rule: ConversionRule
  ) throws -> [AttributeValue] {
    let store = try store(source, values)
    let new = try schema(attribute)
    try takeStage(store, to: new, passes: [.converting("value", of: "Item", rule)])
    #expect(try stagedProblems(store) == [])
    let context = try openStaged(store, new).context()
    defer { context.end() }
    return try context.values("Item", "value")
  }

  @Test func valuesBecomeTextThatIsStoredExternally() throws {
    let id = UUID()
    let samples: [(kind: AttributeKind, value: AttributeValue, text: String)] = [
      (.int64, .int(-12), "-12"), (.uint64, .uint(.max), "18446744073709551615"),
      (.double, .double(0.1), "0.1"), (.decimal, .decimal(Decimal(12)), "12"), (.bool, .bool(true), "true"),
      (.uuid, .uuid(id), id.uuidString),
    ]
    for rule in Self.rules {
      for (kind, value, text) in samples {
        let notes = try convert([value, .null], of: described(kind), to: described(.externalString), rule)
        #expect(notes == [.string(text), .null], "\(kind)")
        let (source, required) = (
          described(kind, optional: false), described(.externalString, optional: false)
        )
        #expect(try convert([value], of: source, to: required, rule) == [.string(text)], "\(kind)")
      }
    }
  }

  @Test func aListBecomesLongTextThatIsStoredExternally() throws {
    let years = Array(1_500..<2_000)._attributeValue
    let source = described(.coded, ofElements: .int64)
    #expect(try convert([years], of: source, to: described(.externalString), .refusing) == [years])
  }

  @Test func aFloatKeepsItsDigits() throws {
    let levels = ([0.1, 9.99, 123_456_792] as [Float]).map(\._attributeValue)
    let cents = Decimal(sign: .plus, exponent: -2, significand: 999)
    let tenth = Decimal(sign: .plus, exponent: -1, significand: 1)
    for rule in Self.rules {
      #expect(
        try convert(levels, of: described(.float), to: described(.string), rule) == [
          .string("0.1"), .string("9.99"), .string("1.2345679e+08"),
        ]
      )
      let decimals = try convert(levels, of: described(.float), to: described(.decimal), rule)
      #expect(decimals == [.decimal(tenth), .decimal(cents), .decimal(Decimal(123_456_792))])
      #expect(try convert(decimals, of: described(.decimal), to: described(.float), rule) == levels)
    }
  }

  @Test func theElementsOfAListKeepTheirDigits() throws {
    let levels = ([0.1, 2.5] as [Float])._attributeValue
    let source = described(.coded, ofElements: .float)
    for rule in Self.rules {
      let texts = try convert([levels], of: source, to: described(.coded, ofElements: .string), rule)
      #expect(texts == [.string(#"["0.1","2.5"]"#)])
      let decimals = try convert([levels], of: source, to: described(.coded, ofElements: .decimal), rule)
      #expect(decimals == [.string("[0.1,2.5]")])
    }
  }

  /// The record of a long value doesn't have it. It was shown as nil.
  @Test func aRefusalLeavesOutAValueOutsideOfTheRecord() throws {
    let long = String(repeating: "m", count: 1_000)
    let store = try store(described(.externalString), [.string("12"), .string("many"), .string(long)])
    let new = try schema(described(.int64))
    let error = #expect(throws: ContextError.self) {
      try takeStage(store, to: new, passes: [.converting("value", of: "Item", .refusing)])
    }
    #expect(error?.code == .wrongValue)
    #expect(error?.refusal?.offenders.map { $0.values } == [[.string("many")], []])
  }
}
