import Testing

/// Properties that stand for the objects behind links.
struct LinkedPropertyTests {
  private let mark = "@Relationship(through: \\Song.links, to: \\Link.person)"

  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  @Test func accessorsGoThroughTheLinks() {
    let expansion = Expansion(
      "@Model final class Song {\n  \(mark) var people: [Person]\n  init() {}\n}"
    )
    #expect(expansion.mistakes == [])
    #expect(
      expansion.text.contains(#"GraphContext.LinkShorthand("people", through: "links", to: "person"),"#)
    )
    #expect(expansion.text.contains(#"_$linked("people", through: \.links, to: \.person)"#))
    #expect(expansion.text.contains(#"_$setLinked(newValue, through: \.links, to: \.person)"#))
  }

  @Test func mistakesStandAtTheirPlaces() {
    #expect(
      mistakes(in: "\(mark) var people: [Person] = []") == [
        "2:76: a property that stands for the objects behind links can't have an initial value"
      ]
    )
    #expect(
      mistakes(in: "\(mark) var person: Person?") == [
        "2:67: links lead to many objects: the type is an array or a set of a model"
      ]
    )
    #expect(
      mistakes(in: "@Relationship(through: \\Song.links.first, to: person) var people: [Person]") == [
        "2:24: the links must be written as a key path to one property, such as '\\Band.memberships'",
        "2:47: what a link leads to must be written as a key path to one property, such as '\\Membership.person'",
      ]
    )
  }
}
