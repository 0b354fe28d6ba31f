import Testing

/// What the macros write for derived attributes, and the mistakes that they know.
struct DerivedTests {
  private func expansion(of members: String) -> String {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").text
  }

  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  @Test func aDerivedAttributeHasNoSetter() {
    let text = expansion(of: "@Attribute(.derived(\"songs.@count\")) var songCount: Int")
    #expect(text.contains("return _$load(0, &_songCount)"))
    #expect(!text.contains("_$willSet(0)") && !text.contains("init(newValue)"))
    #expect(text.contains("._$attribute(\"songCount\", (Int).self, derived: \"songs.@count\"),"))
    #expect(text.contains("_songCount: GraphContext.Cached<Int> = .init()"))
    #expect(text.contains("ObjectState(lacking: 1)"))
  }

  @Test(arguments: [
    "songs.@count", "songs.@sum.seconds", "songs.@min.home.city", "songs.@max.seconds", "title[c]",
    "title[dc]",
    "canonical:(title)",
  ])
  func aRuleOfADerivedAttributeHasAForm(rule: String) {
    #expect(mistakes(in: "@Attribute(.derived(\"\(rule)\")) var value: Int").isEmpty)
  }

  @Test(arguments: [
    "songs.@average.seconds", "songs.count", "@count", "title", "title[x]", "lowercase:(title)",
  ])
  func anythingElseIsNoRule(rule: String) {
    #expect(
      mistakes(in: "@Attribute(.derived(\"\(rule)\")) var value: Int") == [
        "2:21: a rule is a string literal like \"songs.@count\", \"songs.@sum.seconds\", \"songs.@min.seconds\", \"songs.@max.seconds\" or \"title[cd]\""
      ]
    )
  }

  @Test func aDerivedAttributeHasNoOtherValue() {
    #expect(
      mistakes(in: "@Attribute(.derived(\"songs.@count\")) var count: Int = 0") == [
        "2:53: the store makes the value of a derived attribute; the declaration can't give one"
      ]
    )
    #expect(
      mistakes(in: "@Attribute(.derived(\"songs.@count\"), .unique) var count: Int") == [
        "2:38: '.unique' has no meaning for a derived attribute: the store makes its value"
      ]
    )
  }
}
