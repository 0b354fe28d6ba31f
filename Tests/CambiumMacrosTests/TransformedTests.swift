import Testing

/// What the macros write for transformed attributes, and the mistakes that they know.
struct TransformedTests {
  private func expansion(of members: String) -> String {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").text
  }

  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  private let option = ".transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) })"

  @Test func aTransformedAttributeIsStoredByATypeOfItsOwn() {
    let text = expansion(of: "@Attribute(\(option)) var color: Color = .black")
    #expect(
      text.contains("nonisolated private enum _$Transformer_color: GraphContext.AttributeTransformer {")
    )
    #expect(text.contains("static let transformation = GraphContext.Transformation<Color, String>("))
    #expect(text.contains("to: { $0.hex }, from: { Color(hex: $0) }, placeholder: .black)"))
    #expect(
      text.contains(
        "private final var _color: GraphContext.Cached<GraphContext.Transformed<_$Transformer_color>>"
      )
    )
    #expect(
      text.contains("_color = GraphContext.Cached(GraphContext.Transformed<_$Transformer_color>(newValue))")
    )
    #expect(
      text.contains("return _color.value.value }") && text.contains("return _$load(0, &_color).value }")
    )
    let transformed = "GraphContext.Transformed<_$Transformer_color>"
    #expect(
      text.contains("._$attribute(\"color\", (\(transformed)).self, eachTime: { \(transformed)(.black) }),")
    )
    #expect(text.contains("self.color = (try reader.attribute() as \(transformed)).value"))
    #expect(text.contains("visitor.visit(attribute: \(transformed)(self.color))"))
  }

  @Test(arguments: ["Color?", "Optional<Color>"])
  func nilStaysNil(type: String) {
    let text = expansion(of: "@Attribute(\(option)) var color: \(type)")
    #expect(text.contains("GraphContext.Transformation<Color, String>("))
    #expect(text.contains("return _$load(0, &_color)?.value }"))
    #expect(
      text.contains("GraphContext.Cached(GraphContext.Transformed<_$Transformer_color>._$optional(newValue))")
    )
  }

  @Test(arguments: [
    ".transformed", ".transformed(to: { $0 }, from: { $0 })",
    ".transformed(as: String, to: { $0 }, from: { $0 })", ".transformed(as: String.self) { $0 }",
  ])
  func aTransformationNeedsItsParts(option: String) {
    #expect(
      mistakes(in: "@Attribute(\(option)) var color: Color") == [
        "2:12: a transformed attribute names the type that is stored, and two closures: "
          + "'.transformed(as: String.self, to: { $0.text }, from: { Color($0) })'"
      ]
    )
  }

  @Test func whatElseIsSaidIsAboutTheStoredType() {
    #expect(mistakes(in: "@Attribute(\(option), .length(1...9)) var days: [Int]").isEmpty)
    let text = expansion(
      of:
        "@Attribute(.transformed(as: Int.self, to: { $0.count }, from: { 0..<$0 }), .min(1)) var days: Range<Int>"
    )
    #expect(text.contains("rules: [.min(1, of: (Int).self)]"))
    #expect(
      mistakes(
        in:
          "@Attribute(.transformed(as: Int.self, to: { $0.count }, from: { 0..<$0 }), .length(1...9)) var text: String"
      )
      .count == 1
    )
  }

  @Test func aTransformedValueIsNotStoredExternally() {
    #expect(
      mistakes(in: "@Attribute(\(option), .externalStorage) var color: Color")
        == ["2:85: a transformed value can't be stored externally"]
    )
    #expect(
      mistakes(in: "@Attribute(.derived(\"songs.@count\"), \(option)) var color: Color")
        == ["2:38: '.transformed' has no meaning for a derived attribute: the store makes its value"]
    )
  }
}
