import Testing

/// What `@Embeddable` and `@Embedded` write, and the mistakes that they know.
struct EmbeddedTests {
  private func expansion(of members: String) -> String {
    Expansion("@Model final class Person {\n\(members)\ninit() {}\n}").text
  }

  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Person {\n\(members)\ninit() {}\n}").mistakes
  }

  @Test func aModelKeepsTheParts() {
    let text = expansion(
      of: """
        var name: String
        @Embedded var home: Address
        @Embedded(originalName: "office") var work: Address?
        @Relationship(inverse: \\Person.friends) var friends: [Person] = []
        """
    )
    #expect(text.contains("private final var _home: GraphContext.EmbeddedCache<Address>\n".onOneLine))
    #expect(text.contains("private final var _work: GraphContext.EmbeddedCache<Address?>\n".onOneLine))
    #expect(text.contains("let change = _$willSetEmbedded(1, &_work, newValue)"))
    #expect(text.contains("_$didSetEmbedded(change)"))
    #expect(text.contains(".init(\"home\", (Address).self),"))
    #expect(text.contains(".init(\"work\", (Address?).self, originalName: \"office\"),"))
    #expect(
      text.contains(
        "case Self._$model._$place(ofToMany: 0):\n      visitor.visit(toMany: 0, &_friends)".onOneLine
      )
    )
    #expect(
      text.contains("case (0, let part)?:\n        _home.visit(part, at: property, &visitor)".onOneLine)
    )
    #expect(!text.contains("._$attribute(\"home\""))
  }

  @Test func valuesHaveThem() {
    let text = expansion(of: "var name: String\n@Embedded var home: Address\n@Embedded var work: Address?")
    #expect(
      text.contains(
        "_$names: [String] = [[\"name\"], Values._$names(of: Address.self, in: \"home\"), Values._$names(of: Address?.self, in: \"work\")].flatMap {"
      )
    )
    #expect(text.contains("name: String, home: Address, work: Address? = nil) {"))
    #expect(text.contains("self.home = try reader.embedded()"))
    #expect(text.contains("visitor.visit(embedded: self.work)"))
  }

  @Test func aStructHasACacheForEachPart() {
    let text = Expansion(
      """
      @Embeddable public struct Address {
        var street: String
        @Attribute(.min(1), originalName: "no") var number: Int? = 1
        var isLong: Bool { street.count > 9 }
        static let none = Address(street: "")
      }
      """
    ).text
    #expect(text.contains("nonisolated extension Address: GraphContext.EmbeddedValue {"))
    #expect(text.contains("public struct _Parts: GraphContext.EmbeddedParts {"))
    #expect(text.contains("fileprivate var _number: GraphContext.EmbeddedPart<Int?>"))
    #expect(text.contains("[(\\Address.street, \"street\"), (\\Address.number, \"number\")]"))
    #expect(text.contains("public static var count: Int { 2 }"))
    #expect(
      text.contains(
        "._$attribute(\"number\", (Int?).self, default: 1, originalName: \"no\", rules: [.min(1, of: (Int?).self)]),"
      )
    )
    #expect(text.contains("self.street = try reader.attribute()"))
    #expect(!text.contains("isLong\""))
  }

  @Test func onlyAStructCanBeEmbedded() {
    let message = "1:1: '@Embeddable' can only be attached to a struct without generic parameters"
    #expect(Expansion("@Embeddable final class Address { var city: String }").mistakes == [message])
    #expect(Expansion("@Embeddable enum Address { case a }").mistakes == [message])
    #expect(Expansion("@Embeddable struct Address<T> { var city: String }").mistakes == [message])
    #expect(
      Expansion("@Embeddable struct Address { static let a = 1 }").mistakes
        == ["1:20: an embedded value has at least one stored property"]
    )
  }

  @Test(arguments: [
    "@Attribute(.unique) var city: String", "@Attribute(.externalStorage) var city: String",
    "@Attribute(.perInsert { \"\" }) var city: String",
  ])
  func aPartIsAPlainAttribute(member: String) {
    let message =
      "a part of an embedded value is an attribute, without '.unique', '.externalStorage', '.perInsert', '.derived' and '.transformed', or another embedded value"
    #expect(Expansion("@Embeddable struct Address { \(member) }").mistakes.contains("1:30: \(message)"))
  }

  @Test func aPartMayBeAnEmbeddedValue() {
    let text = Expansion(
      """
      @Embeddable struct Address {
        @Embedded(originalName: "geo") var position: Position
        var street: String
        @Embedded var exit: Position
      }
      """
    ).text
    #expect(text.contains("fileprivate var _position: Position._Parts"))
    #expect(text.contains("self.street = parts._street.value(of: object, at: slot + 0)"))
    #expect(text.contains("self.exit = parts._exit.value(of: object, at: slot + _Parts.start_exit)"))
    #expect(text.contains("self.position = try reader.embedded()"))
    #expect(text.contains("count: Int { 1 + Position._Parts.count + Position._Parts.count }"))
    #expect(
      text.contains(
        "all += GraphContext.EmbeddedDescription(\"position\", (Position).self, originalName: \"geo\").attributes"
      )
    )
    #expect(text.contains("fileprivate static var start_exit: Int { 1 + Position._Parts.count }"))
    #expect(text.contains("case Self.start_exit..<Self.start_exit + Position._Parts.count:"))
  }

  @Test func whatIsEmbeddedInAValueIsThere() {
    #expect(
      Expansion("@Embeddable struct Address { @Embedded var geo: Geo? }").mistakes == [
        "1:30: 'geo' is embedded in an embedded value and can't be nil; make its parts optional, or embed it in the model"
      ]
    )
  }

  @Test func aPartIsAVariableWithAType() {
    #expect(
      Expansion("@Embeddable struct Address { var city = \"\" }").mistakes.first
        == "1:34: 'city' needs a type: a macro can't see what is inferred"
    )
    #expect(Expansion("@Embeddable struct Address { let city: String }").mistakes.count == 2)
  }

  @Test func anEmbeddedValueIsSeveralAttributes() {
    #expect(
      mistakes(in: "@Embedded @Attribute(.unique) var home: Address") == [
        "2:1: an embedded value is several attributes: '@Attribute' belongs to the properties of its struct"
      ]
    )
    #expect(
      mistakes(in: "@Embedded var homes: [Address]") == [
        "2:22: '[Address]' can't be embedded: an embedded value is a struct marked '@Embeddable', or an optional of one"
      ]
    )
    #expect(
      mistakes(in: "#Index<Person>([\\.home])\n@Embedded var home: Address") == [
        "2:17: 'home' is several attributes: an index names one of them, as in '\\.home.city'"
      ]
    )
    #expect(
      mistakes(
        in:
          "#Index<Person>([\\.home.city], [\\.work?.city])\n@Embedded var home: Address\n@Embedded var work: Address?"
      ) == []
    )
    #expect(
      mistakes(in: "#Index<Person>([\\.name.count])\nvar name: String").count == 1
    )
    #expect(
      Expansion("struct A { @Embedded var home: Address }").mistakes
        == ["1:12: '@Embedded' has a meaning only in a class marked '@Model'"]
    )
  }
}
