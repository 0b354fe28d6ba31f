import Testing

/// What people write who come from Core Data or SwiftData, or take Cambium's words by their sound: each has one message where it stands.
struct NewcomerTests {
  /// What is wrong with a model that has these members.
  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  // MARK: Classes

  @Test func aModelStandsOutsideOfFunctions() {
    let message = "'Song' can't be a model in a function: move the class out of the function"
    for (before, after) in [("func f() {", "}"), ("let f = {", "}"), ("var f: Int {\n get {", "}}")] {
      let found = Expansion("\(before)\n@Model final class Song { init() {} }\n\(after)").mistakes
      #expect(found.count == 1 && found.first?.hasSuffix(message) == true, "\(found)")
    }
  }

  @Test func aModelInAGenericTypeWouldBeManyEntities() {
    #expect(
      Expansion("struct Box<T> {\n@Model final class Song { init() {} }\n}").mistakes
        == ["2:20: a model can't be generic: an entity is one class"]
    )
  }

  @Test func aModelInAnotherTypeIsNotPrivate() {
    #expect(
      Expansion("enum Models {\n@Model private final class Song { init() {} }\n}").mistakes == [
        "2:8: a model in another type can't be private: 'Song' can be fileprivate",
        "fix: use 'fileprivate': fileprivate",
      ]
    )
    #expect(Expansion("@Model private final class Song { init() {} }").mistakes.isEmpty)
  }

  @Test func thePlaceOfAPropertyIsTaken() {
    let message = "'_title' is where the model stores 'title'; one of the two needs another name"
    #expect(mistakes(in: "var title: String\nvar _title: String") == ["3:5: \(message)"])
    #expect(mistakes(in: "var title: String\nvar _title: String { title }") == ["3:5: \(message)"])
    #expect(mistakes(in: "var title: String\nvar _name: String").isEmpty)
  }

  // MARK: Types

  @Test(arguments: [
    ("= [\"a\", \"b\"]", "[String]"), ("= -1", "Int"), ("= -1.5", "Double"), ("= Date.now", "Date"),
    ("= [1, 2.5]", "<#Type#>"), ("= []", "<#Type#>"), ("= makeYear()", "<#Type#>"),
  ])
  func aTypeIsTakenFromTheValue(value: String, type: String) {
    #expect(
      mistakes(in: "var value \(value)") == [
        "2:5: 'value' needs a type: a macro can't see what is inferred",
        "fix: insert ': \(type)': value: \(type) \(value)",
      ]
    )
  }

  // MARK: Attributes

  @Test(arguments: [
    ("ephemeral", "mark the property '@Transient'", true),
    ("spotlight", "texts are found with '#Index' and conditions", false),
    ("allowsCloudEncryption", "values are stored as they are", false),
    (
      "transformable(by: Coder.self)",
      "declare the type 'CodableAttribute', give it a raw value and declare it 'AttributeType', or write '.transformed(as:to:from:)'",
      false
    ),
  ])
  func anOptionOfSwiftDataHasAnother(option: String, hint: String, isMended: Bool) {
    let name = option.prefix { $0 != "(" }
    #expect(
      mistakes(in: "@Attribute(.\(option)) var cover: Data?")
        == ["2:12: there is no '.\(name)' here: \(hint)"]
        + (isMended ? ["fix: use '@Transient': @Transient"] : [])
    )
  }

  @Test func anOptionIsGivenOnce() {
    #expect(
      mistakes(in: "@Attribute(.unique, .min(0), .unique(ifExists: .merge)) var code: Int")
        == ["2:30: '.unique' is given twice"]
    )
    #expect(
      mistakes(in: "@Attribute(.unique) @Attribute(.min(0)) var code: Int")
        == ["2:21: a property has one '@Attribute', with all that it says"]
    )
    #expect(
      mistakes(in: "@Relationship @Relationship(deleteRule: .deny) var album: Album?")
        == ["2:15: a property has one '@Relationship', with all that it says"]
    )
  }

  @Test(arguments: ["[String]", "Set<Int>", "[Tag]", "[String]?"])
  func aListIsNotUnique(type: String) {
    #expect(
      mistakes(in: "@Attribute(.unique) var tags: \(type)")
        == ["2:12: a list can't be unique: only a single value of an object can be"]
    )
  }

  @Test(arguments: ["Bool", "Data?", "UUID", "URL", "[Int]"])
  func boundsAreForValuesWithAnOrder(type: String) {
    #expect(
      mistakes(in: "@Attribute(.min(0)) var value: \(type)")
        == ["2:12: '.min' is for values with an order, and those of '\(type)' have none"]
    )
  }

  @Test(arguments: [
    ("length(1...5)", "length", "'String' and 'Data'"), ("pattern(\"a\")", "pattern", "'String'"),
  ])
  func rulesOfTextAreForText(rule: String, name: String, types: String) {
    for type in ["Int", "Date?", "[String]"] {
      #expect(
        mistakes(in: "@Attribute(.\(rule)) var value: \(type)")
          == ["2:12: '.\(name)' is for \(types), not for '\(type)'"]
      )
    }
    #expect(mistakes(in: "@Attribute(.\(rule)) var value: Email").isEmpty)
  }

  @Test func aRuleCanBeFulfilled() {
    let bounds = "no value is at least the minimum and at most the maximum"
    #expect(mistakes(in: "@Attribute(.max(-1), .min(1_0)) var value: Int") == ["2:12: \(bounds)"])
    #expect(mistakes(in: "@Attribute(.min(0), .max(0)) var value: Int").isEmpty)
    #expect(mistakes(in: "@Attribute(.min(low), .max(0)) var value: Int").isEmpty)
    #expect(
      mistakes(in: "@Attribute(.length(5...3)) var value: String") == ["2:12: no length is in this range"]
    )
    #expect(
      mistakes(in: "@Attribute(.length(3..<3)) var value: String") == ["2:12: no length is in this range"]
    )
    #expect(mistakes(in: "@Attribute(.length(3...3)) var value: String").isEmpty)
  }

  @Test(arguments: [
    ("a(b", "'(' is not closed"), ("a)b", "')' closes no group"), ("[a-z", "'[' is not closed"),
    ("[]", "'[' is not closed"), ("[^]", "'[' is not closed"), ("*a", "'*' repeats nothing"),
    ("(+a)", "'+' repeats nothing"),
    ("a|?", "'?' repeats nothing"), ("[", "'[' is not closed"),
  ])
  func aPatternIsARegularExpression(pattern: String, mistake: String) {
    #expect(
      mistakes(in: "@Attribute(.pattern(\"\(pattern)\")) var code: String")
        == ["2:12: this is no regular expression: \(mistake)"]
    )
  }

  @Test(arguments: [
    "[A-Z]{2}[0-9]{4}", "a|b", "(?:a)+", "(?i)a*?", "[]a]", "[^]a]", "\\\\(", "[(]", "^a$", "", "(a|b)*",
    "\\\\[a++",
  ])
  func aSoundPatternIsNoMistake(pattern: String) {
    #expect(mistakes(in: "@Attribute(.pattern(\"\(pattern)\")) var code: String") == [])
  }

  // MARK: Relationships

  @Test func aDeleteRuleIsOneOfThree() {
    #expect(
      mistakes(in: "@Relationship(deleteRule: .noAction) var album: Album?") == [
        "2:27: there is no '.noAction': no object can lead to a deleted one. '.nullify' keeps the others",
        "fix: use '.nullify': .nullify",
      ]
    )
    let message = "there is no delete rule '.casade'; there are '.nullify', '.cascade' and '.deny'"
    #expect(
      mistakes(in: "@Relationship(deleteRule: .casade) var album: Album?")
        == ["2:27: \(message)", "fix: use '.cascade': .cascade"]
    )
    #expect(mistakes(in: "@Relationship(deleteRule: rule) var album: Album?").isEmpty)
  }

  @Test func aRelationshipLeadsToNoValue() {
    #expect(
      mistakes(in: "@Relationship var name: String?") == [
        "2:25: a relationship leads to a model, and 'String' is a value: remove '@Relationship'",
        "fix: remove '@Relationship': var name: String?",
      ]
    )
  }

  @Test func boundsOfACountLeaveRoom() {
    let message = "the maximum is less than the minimum: no object could be saved"
    #expect(
      mistakes(in: "@Relationship(minimumModelCount: 5, maximumModelCount: 2) var takes: [Take] = []")
        == ["2:56: \(message)"]
    )
  }

  @Test func theInverseIsAtTheOtherEnd() {
    let message = "the inverse is a property of 'Album', which the relationship leads to"
    #expect(
      mistakes(in: "@Relationship(inverse: \\Song.album) var album: Album?")
        == ["2:24: \(message)", "fix: use '\\Album.album': \\Album.album"]
    )
    #expect(
      mistakes(in: "@Relationship(inverse: \\.songs) var albums: [Album]")
        == ["2:24: \(message)", "fix: use '\\Album.songs': \\Album.songs"]
    )
    #expect(mistakes(in: "@Relationship(inverse: \\Album.songs) var album: Music.Album?").isEmpty)
  }

  // MARK: Indexes

  @Test func anIndexHasAModelAndProperties() {
    #expect(
      mistakes(in: "#Index<Song>()\nvar title: String")
        == ["2:1: '#Index' needs an array of key paths, such as '[\\.title]'"]
    )
    #expect(
      mistakes(in: "#Unique([\\.title])\nvar title: String") == [
        "2:1: '#Unique' needs the model's name: '#Unique<Song>'", "fix: insert '<Song>': Unique<Song>",
      ]
    )
    #expect(mistakes(in: "#Index([\\Song.title])\nvar title: String").isEmpty)
  }

  @Test func aListIsFirstInItsIndex() {
    let tags = "var title: String\nvar tags: [String]"
    #expect(
      mistakes(in: "#Index<Song>([\\.title, \\.tags])\n\(tags)")
        == ["2:24: 'tags' is a list, which must be the first property of its index"]
    )
    #expect(
      mistakes(in: "#Unique<Song>([\\.tags])\n\(tags)")
        == ["2:16: 'tags' is a list, and lists can't be unique"]
    )
    #expect(mistakes(in: "#Index<Song>([\\.tags, \\.title])\n\(tags)").isEmpty)
  }

  // MARK: Spellings

  @Test func whatIsStoredDependsOnNoCondition() {
    let message = "stored properties and indexes can't depend on '#if': the schema would depend on it too"
    #expect(mistakes(in: "#if A\n#if B\nvar plays: Int = 0\n#endif\n#endif") == ["2:1: \(message)"])
    #expect(
      mistakes(in: "#if os(Linux)\n#Unique<Song>([\\.title])\n#endif\nvar title: String")
        == ["2:1: \(message)"]
    )
    #expect(
      Expansion("@Embeddable struct A {\nvar city: String\n#if A\nvar zone: String = \"\"\n#endif\n}")
        .mistakes
        == ["3:1: \(message)"]
    )
    #expect(mistakes(in: "#if A\n@Attribute(.unique)\n#endif\nvar title: String") == ["2:1: \(message)"])
    #expect(mistakes(in: "#if A\n@Transient\n#endif\nvar plays: Int = 0") == ["2:1: \(message)"])
    #expect(mistakes(in: "#if A\n@available(*, deprecated)\n#endif\nvar plays: Int = 0") == [])
    #expect(mistakes(in: "#if A\n@Transient var isSelected = false\n#endif") == [])
  }

  @Test func aNameIsMadeOfLettersDigitsAndUnderscores() {
    let message = "the name of what is stored has letters, digits and '_'"
    let ofProperty = mistakes(in: "var `my title`: String")
    #expect(ofProperty.count == 1 && ofProperty[0].contains(message))
    let ofClass = Expansion("@Model final class `My Song` { init() {} }").mistakes
    #expect(ofClass.count == 1 && ofClass[0].contains(message))
    #expect(mistakes(in: "var `default`: String\nvar größe: Int") == [])
  }

  @Test func anIndexMayNameTheEnclosingType() {
    let model =
      "@Model final class Song {\n#Index<Zoo.Song>([\\.title])\nvar title: String = \"\"\ninit() {}\n}"
    #expect(Expansion("enum Zoo {\n\(model)\n}").mistakes.isEmpty)
  }

  @Test func theInsertedInitializerQuotesKeywords() {
    let expansion = Expansion("@Model final class Song {\nvar `default`: String\n}")
    #expect(expansion.mistakes.contains { $0.contains("self.default = `default`") })
  }

  @Test func modulesOfCollectionsMayBeSpelled() {
    let expansion = Expansion(
      """
      @Model final class Song {
      @Relationship var tags: Swift.Set<Tag> = []
      @Relationship(.ordered, inverse: \\Verse.song) var verses: GraphContext.OrderedToMany<Verse> = []
      @Relationship var album: Swift.Optional<Album>
      init() {}
      }
      """
    )
    #expect(expansion.mistakes == [])
    #expect(expansion.text.contains("toMany") && !expansion.text.contains("ToOneReference<Swift"))
  }

  @Test func aPropertyBelongsToNoActor() {
    #expect(
      mistakes(in: "@MainActor var title: String = \"\"").first
        == "2:1: 'title' can't be '@MainActor': an object is used where its context is, on any actor"
    )
  }

  @Test func aPropertyForLinkedObjectsTakesNoOtherMark() {
    let links = "@Relationship(through: \\Song.links, to: \\Link.person) var people: [Person]"
    let message = "a property that stands for the objects behind links isn't stored itself: it takes no"
    #expect(mistakes(in: "@Attribute(.unique) \(links)") == ["2:1: \(message) '@Attribute'"])
    #expect(mistakes(in: "@Embedded \(links)") == ["2:1: \(message) '@Embedded'"])
    #expect(mistakes(in: "@Relationship \(links)").count == 1)
  }

  /// The names of generic parameters that the macros write hide no class.
  @Test func classesMayBeCalledAsParametersOften() {
    for name in ["Member", "Reader", "Visitor"] {
      let text = Expansion(
        "@Model(superclass: \"\(name)\") final class Trainer: \(name) {\nvar sport: String = \"\"\noverride init() { super.init() }\n}"
      ).text
      #expect(text.contains("\(name).Values") && !text.contains("<\(name)>") && !text.contains("<\(name):"))
    }
  }
}
