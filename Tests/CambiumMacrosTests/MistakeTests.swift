import Testing

/// Every mistake that the macros know, where they point, and how they would mend it.
struct MistakeTests {
  /// What is wrong with a model that has these members.
  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  @Test func onlyAClassCanBeAModel() {
    #expect(
      Expansion("@Model struct Song { var title: String }").mistakes
        == ["1:1: '@Model' can only be attached to a class", "fix: use 'final class': final class"]
    )
    #expect(
      Expansion("@Model public actor Song {}").mistakes
        == ["1:1: '@Model' can only be attached to a class", "fix: use 'final class': final class"]
    )
    #expect(Expansion("@Model enum Song {}").mistakes == ["1:1: '@Model' can only be attached to a class"])
  }

  @Test func aModelMustBeFinal() {
    #expect(
      Expansion("@Model class Song { var title: String; init() {} }").mistakes == [
        "1:8: 'Song' must be final, or name the models that inherit from it: '@Model(subclasses: [\"…\"])'",
        "fix: insert 'final': final class",
      ]
    )
  }

  @Test func aModelCannotBeGeneric() {
    #expect(
      Expansion("@Model final class Song<T> { init() {} }").mistakes
        == ["1:24: a model can't be generic: an entity is one class"]
    )
  }

  @Test func aPropertyIsAVariable() {
    #expect(
      mistakes(in: "let title: String") == [
        "2:1: 'title' must be a 'var': its value is read from the store after the object was made; "
          + "'private(set) var' keeps others from changing it",
        "fix: use 'var': var",
      ]
    )
  }

  @Test(arguments: [
    ("title = \"\"", "String"), ("track = 1", "Int"), ("gain = 1.5", "Double"), ("isLive = true", "Bool"),
    ("added = Date()", "Date"), ("genre = genres[0]", "<#Type#>"), ("album = makeAlbum()", "<#Type#>"),
  ])
  func aPropertyNeedsAType(declaration: String, type: String) throws {
    let name = try #require(declaration.split(separator: " ").first)
    let value = declaration.dropFirst(name.count)
    #expect(
      mistakes(in: "var \(declaration)") == [
        "2:5: '\(name)' needs a type: a macro can't see what is inferred",
        "fix: insert ': \(type)': \(name): \(type)\(value)",
      ]
    )
  }

  @Test func eachPropertyHasItsOwnVar() {
    #expect(mistakes(in: "var a: Int, b: Int") == ["2:5: each property of a model needs a 'var' of its own"])
    #expect(
      mistakes(in: "var (a, b): (Int, Int)") == ["2:5: each property of a model needs a 'var' of its own"]
    )
  }

  @Test(arguments: ["lazy", "weak", "unowned"])
  func aPropertyIsStoredPlainly(modifier: String) {
    #expect(
      mistakes(in: "\(modifier) var title: String") == ["2:1: a property of a model can't be '\(modifier)'"]
    )
  }

  @Test func aPropertyHasNoObservers() {
    #expect(
      mistakes(in: "var title: String { didSet {} }") == [
        "2:19: a property of a model can't have 'willSet' or 'didSet': its values come from the store"
      ]
    )
  }

  @Test func aPropertyIsNotConditional() {
    #expect(
      mistakes(in: "#if os(Linux)\nvar title: String\n#endif")
        == ["2:1: stored properties and indexes can't depend on '#if': the schema would depend on it too"]
    )
    #expect(mistakes(in: "#if os(Linux)\nfunc play() {}\nvar x: Int { 1 }\n#endif").isEmpty)
  }

  @Test(arguments: ["objectID", "hasChanges", "isDeleted"])
  func aNameCanBeTaken(name: String) {
    #expect(
      mistakes(in: "var \(name): Int")
        == ["2:5: '\(name)' is a member of every model; the property needs another name"]
    )
  }

  @Test(arguments: [
    ("[String: Int]", "make its entries a model, or use a 'CodableAttribute' struct instead"),
    ("(Int, Int)", "give each element an attribute of its own, or use a 'CodableAttribute' struct instead"),
    ("() -> Void", "a function is no value"),
    ("any Hashable", "an attribute has one concrete type"),
    ("String!", "write '?' instead of '!'"),
    ("Int??", "nil in nil would be lost; one '?' is enough"),
    ("[Any]", "an attribute has one concrete type"),
    ("Set<Character>", "use 'String'"),
    ("[UInt8]", "'Data' is the type for bytes; write '@Attribute' before a list of small numbers"),
    ("Int128", "use 'Int64', 'Decimal' or 'Data'"),
    ("UInt128?", "use 'UInt64', 'Decimal' or 'Data'"),
    ("Float16", "use 'Float'"),
    ("Dictionary<String, Int>", "make its entries a model, or use a 'CodableAttribute' struct instead"),
  ])
  func someTypesCannotBeStored(type: String, hint: String) {
    #expect(mistakes(in: "var value: \(type)") == ["2:12: '\(type)' can't be stored: \(hint)"])
    #expect(mistakes(in: "@Relationship var value: \(type)") == ["2:26: '\(type)' can't be stored: \(hint)"])
  }

  @Test(arguments: ["[Song]", "Set<Song>", "ToMany<Song>", "Array<Song>", "[Music.Song]"])
  func aCollectionOfWhatMayBeModelsIsMarked(type: String) {
    #expect(
      mistakes(in: "var others: \(type) = []") == [
        "2:13: mark '\(type)' with '@Relationship' if its elements are models, and with '@Attribute' if they are values",
        "fix: insert '@Relationship': @Relationship var others: \(type) = []",
        "fix: insert '@Attribute': @Attribute var others: \(type) = []",
      ]
    )
    #expect(mistakes(in: "@Relationship var others: \(type) = []") == [])
    #expect(mistakes(in: "@Attribute var others: \(type) = []") == [])
    #expect(mistakes(in: "@Attribute var others: \(type)?") == [])
    #expect(
      mistakes(in: "var others: \(type)?") == [
        "2:13: mark '\(type)?' with '@Relationship' if its elements are models, and with '@Attribute' if they are values",
        "fix: insert '@Attribute': @Attribute var others: \(type)?",
      ]
    )
  }

  @Test(arguments: ["[String]", "Set<Int>", "[Date]?", "[Int?]", "[[String]]"])
  func aListOfValuesIsAnAttribute(type: String) {
    #expect(mistakes(in: "var tags: \(type) = []") == [])
    #expect(mistakes(in: "@Attribute var tags: \(type) = []") == [])
    #expect(
      mistakes(in: "@Relationship var tags: \(type) = []") == [
        "2:25: a relationship leads to models, and the elements of '\(type)' are values: remove '@Relationship'"
      ]
    )
  }

  @Test func onlyAToManyRelationshipHasACount() {
    let message =
      "only a to-many relationship has a count; a to-one relationship whose type isn't optional is required"
    #expect(mistakes(in: "@Relationship(minimumModelCount: 1) var other: Song?") == ["2:34: \(message)"])
    #expect(mistakes(in: "@Relationship(maximumModelCount: 1) var other: Song") == ["2:34: \(message)"])
    #expect(
      mistakes(in: "@Relationship(inverse: \\Song.other, maximumModelCount: 1) var others: [Song] = []") == []
    )
  }

  @Test func aRelationshipToRecordsNamesTheirEntity() {
    let ofNone =
      "a relationship to records names their entity, as in '@Relationship(to: \"Note\", inverse: \"song\")'"
    #expect(mistakes(in: "@Relationship var note: ManagedRecord?") == ["2:1: \(ofNone)"])
    #expect(
      mistakes(in: "@Relationship var notes: ToMany<GraphContext.ManagedRecord> = []") == ["2:1: \(ofNone)"]
    )
    #expect(
      mistakes(in: "@Relationship(to: \"Note\") var other: Song?") == [
        "2:19: a relationship to an entity without a class has the type 'ManagedRecord?', 'ManagedRecord' or '[ManagedRecord]'"
      ]
    )
    #expect(mistakes(in: "@Relationship(to: \"Note\") var note: ManagedRecord?") == [])
    #expect(
      mistakes(in: "@Relationship(to: \"Note\", .ordered, inverse: \"song\") var notes: [ManagedRecord] = []")
        == []
    )
  }

  @Test func aToManyRelationshipIsNeverNil() {
    #expect(
      mistakes(in: "@Relationship var others: [Song]?") == [
        "2:27: a to-many relationship is empty, never nil: its type can't be optional",
        "fix: remove '?': [Song]",
      ]
    )
  }

  @Test func anAttributeIsNoRelationship() {
    #expect(
      mistakes(in: "@Attribute(.unique) @Relationship var album: Album?")
        == ["2:21: a property is an '@Attribute' or a '@Relationship', not both"]
    )
  }

  @Test(arguments: [
    ("func willSave() throws {}", "willSave", "func willSave()"),
    ("func didSave(_ count: Int) {}", "didSave", "func didSave()"),
    ("func awakeFromInsert() async {}", "awakeFromInsert", "func awakeFromInsert()"),
    ("static func willSave() {}", "willSave", "func willSave()"),
    ("func validateForInsert() -> Bool { true }", "validateForInsert", "func validateForInsert() throws"),
  ])
  func aMethodWithTheNameOfAHookIsOne(declaration: String, name: String, right: String) {
    let found = mistakes(in: declaration)
    let message = "'\(name)' is the name of a hook, which must be declared '\(right)'"
    #expect(found.count == 1 && found.first?.hasSuffix(message) == true, "\(found)")
  }

  @Test(arguments: [
    "func willSave() {}", "func validateForInsert() {}", "func validateForUpdate() throws {}",
  ])
  func aHookIsNoMistake(declaration: String) { #expect(mistakes(in: declaration) == []) }

  @Test func anAttributeHasOnlyOptionsThatWork() {
    #expect(
      mistakes(in: "@Attribute(.encrypted) var cover: Data?") == [
        "2:12: '@Attribute' takes '.unique', '.min(…)', '.max(…)', '.length(…)', '.pattern(…)', '.perInsert { … }', '.derived(…)', '.transformed(…)', '.externalStorage' and '.preserveValueOnDeletion'"
      ]
    )
  }

  @Test(arguments: ["Data", "Data?", "String", "Optional<String>", "Foundation.Data?"])
  func bytesAndTextAreStoredExternally(type: String) {
    #expect(mistakes(in: "@Attribute(.externalStorage, .length(0...9)) var cover: \(type)").isEmpty)
  }

  @Test(arguments: ["Int", "Date?", "URL", "Genre", "Cover?"])
  func nothingElseIsStoredExternally(type: String) {
    #expect(
      mistakes(in: "@Attribute(.externalStorage) var cover: \(type)") == [
        "2:12: external storage is for 'Data' and 'String', which can be optional"
      ]
    )
  }

  @Test func whatIsStoredExternallyIsNotCompared() {
    #expect(
      mistakes(in: "@Attribute(.unique, .externalStorage) var cover: Data?") == [
        "2:21: a value that is stored externally isn't compared with others, so it can't be unique"
      ]
    )
    #expect(
      mistakes(in: "@Attribute(.externalStorage, .preserveValueOnDeletion) var cover: Data?") == [
        "2:12: the history keeps no value that is stored externally"
      ]
    )
    #expect(
      mistakes(in: "#Index<Song>([\\.cover])\n@Attribute(.externalStorage) var cover: Data?") == [
        "2:15: 'cover' is stored externally, and such values aren't compared; no index has them"
      ]
    )
  }

  @Test func anAttributeHasOneFirstValue() {
    #expect(mistakes(in: "@Attribute(.perInsert { UUID() }) var token: UUID").isEmpty)
    #expect(
      mistakes(in: "@Attribute(.perInsert { UUID() }) var token: UUID = UUID()") == [
        "2:51: '.perInsert' makes the first value; the declaration can't give another"
      ]
    )
  }

  @Test(arguments: ["name", "\"a\\(b)\"", "nil", "\"a\" + \"b\""])
  func anOriginalNameIsALiteral(name: String) {
    let message = "the original name must be written as a string literal, such as '\"title\"'"
    #expect(
      mistakes(in: "@Attribute(.unique, originalName: \(name)) var title: String") == ["2:35: \(message)"]
    )
    #expect(
      mistakes(in: "@Relationship(originalName: \(name)) var album: Album?") == ["2:29: \(message)"]
    )
    #expect(
      Expansion("@Model(originalName: \(name)) final class Song { init() {} }").mistakes == [
        "1:22: \(message)"
      ]
    )
  }

  @Test(arguments: ["", "a b", "1a", "a.b"])
  func anOriginalNameIsAName(name: String) {
    #expect(
      mistakes(in: "@Attribute(originalName: \"\(name)\") var title: String")
        == ["2:26: no property can have had the name '\(name)'"]
    )
    #expect(
      Expansion("@Model(originalName: \"\(name)\") final class Song { init() {} }").mistakes
        == ["1:22: no model can have had the name '\(name)'"]
    )
  }

  @Test(arguments: ["inversePath", "\\Album.songs.count", "\\Album.songs[0]"])
  func anInverseIsAKeyPathToOneProperty(path: String) {
    #expect(
      mistakes(in: "@Relationship(inverse: \(path)) var album: Album?")
        == [
          "2:24: the inverse must be written as a key path to one property, such as '\\Album.songs', "
            + "or as '.itself' or '.hidden'"
        ]
    )
  }

  @Test func anIndexHasPropertiesOfItsModel() {
    #expect(
      mistakes(in: "#Index<Song>([\\.year])\nvar title: String")
        == ["2:15: 'year' is not a stored property of 'Song'"]
    )
    #expect(
      mistakes(in: "#Unique<Song>([\\.title, \\.title])\nvar title: String")
        == ["2:25: 'title' is in this index twice"]
    )
    #expect(
      mistakes(in: "#Index<Song>([\\.others])\n@Relationship var others: [Song]")
        == ["2:15: 'others' is a to-many relationship; an index has values of the object itself"]
    )
    #expect(
      mistakes(in: "#Index<Album>([\\.title])\nvar title: String")
        == ["2:1: an index in 'Song' can't be an index of 'Album'"]
    )
  }

  @Test func aMisspeltPropertyIsCorrected() {
    #expect(
      mistakes(in: "#Unique<Song>([\\.isrc], [\\.isrc, \\.titel])\nvar isrc: String\nvar title: String") == [
        "2:34: 'titel' is not a stored property of 'Song'", "fix: use 'title': \\.title",
      ]
    )
    #expect(
      mistakes(in: "#Index<Song>([\\.sort], [\\.track, \\.Title])\nvar title: String\nvar track: Int") == [
        "2:15: 'sort' is not a stored property of 'Song'",
        "2:34: 'Title' is not a stored property of 'Song'", "fix: use 'title': \\.title",
      ]
    )
  }

  @Test func anIndexHasNoComputedAndNoInheritedProperties() {
    #expect(
      mistakes(in: "#Index<Song>([\\.label])\nvar label: String { title }\nvar title: String")
        == ["2:15: 'label' is computed; an index has stored properties"]
    )
    #expect(
      Expansion("@Model final class Song: Item { #Index<Song>([\\.added]); var title: String; init() {} }")
        .mistakes
        == [
          "1:47: 'added' is not a stored property that 'Song' declares itself; what it inherits is not persistent"
        ]
    )
  }

  @Test func aPropertyHasNoWrapper() {
    let message = "a model stores its properties itself, without property wrappers or other macros"
    #expect(
      mistakes(in: "@Clamped(max: 3) var rating: Int = 1") == [
        "2:1: 'rating' can't be '@Clamped': \(message)", "fix: remove '@Clamped': var rating: Int = 1",
      ]
    )
    #expect(
      mistakes(in: "@Attribute(.unique) @Other.State private var rating: Int") == [
        "2:21: 'rating' can't be '@State': \(message)",
        "fix: remove '@State': @Attribute(.unique) private var rating: Int",
      ]
    )
    #expect(mistakes(in: "@available(*, deprecated) var rating: Int").isEmpty)
    #expect(mistakes(in: "@Clamped static var rating: Int = 1").isEmpty)
  }

  @Test func aTransientPropertyHasAnInitialValueAndIsNotStored() {
    #expect(mistakes(in: "@Transient var isSelected = false").isEmpty)
    #expect(mistakes(in: "@Transient var image: [UInt8]?").isEmpty)
    #expect(mistakes(in: "@Transient lazy var words = text.split(separator: \" \")").isEmpty)
    let noValue =
      "a transient property needs an initial value: an object that is read from the store has no other"
    #expect(mistakes(in: "@Transient var isSelected: Bool") == ["2:1: \(noValue)"])
    #expect(mistakes(in: "@Transient let image: [UInt8]?") == ["2:1: \(noValue)"])
    let notStored = "a transient property is not stored: '@Attribute' has no meaning for it"
    #expect(mistakes(in: "@Transient @Attribute(.unique) var rating: Int = 1") == ["2:12: \(notStored)"])
  }

  @Test func aModelHasAnInitializer() {
    let message = "'Song' needs an initializer: no object of it can be made without one"
    #expect(
      Expansion(
        """
        @Model public final class Song {
          var title: String
          var track: Int = 1
          var rating: Double?
          @Relationship var album: Album
          @Relationship var takes: [Take] = []
        }
        """
      ).mistakes == [
        "1:27: \(message)",
        """
        fix: insert an initializer:\u{20}
          public init(title: String, album: Album) {
            self.title = title
            self.album = album
          }
        }
        """,
      ]
    )
    #expect(
      Expansion("enum Models {\n  @Model final class Song {\n    var track: Int = 1\n  }\n}").mistakes
        == ["2:22: \(message)", "fix: insert an initializer: \n    init() {}\n  }"]
    )
    #expect(Expansion("@Model @Initialized final class Song { var title: String }").mistakes.isEmpty)
    #expect(Expansion("@Model final class Song {\n#if os(Linux)\ninit() {}\n#endif\n}").mistakes.isEmpty)
  }

  @Test(arguments: [("[\\.album?.year]", 15), ("[]", 14), ("paths", 14), ("[path]", 15)])
  func anIndexIsWrittenOut(argument: String, column: Int) {
    #expect(
      mistakes(in: "#Index<Song>(\(argument))\nvar title: String") == [
        "2:\(column): each index must be written as an array of key paths to one property each, "
          + "such as '[\\.title, \\.year]'"
      ]
    )
  }

  @Test func anIndexIsDeclaredOnce() {
    let message = "there is an index over title already; a unique one serves queries too"
    #expect(
      mistakes(in: "#Index<Song>([\\.title])\n#Unique<Song>([\\.title])\nvar title: String") == [
        "3:1: \(message)"
      ]
    )
    #expect(
      mistakes(in: "#Unique<Song>([\\.title])\n@Attribute(.unique) var title: String") == ["2:1: \(message)"]
    )
  }

  @Test func aModelHasAtMostSixtyFourSlots() {
    let relationship = "@Relationship var others: [Song]"
    func members(_ count: Int) -> String {
      ((0..<count).map { "var p\($0): Int" } + [relationship]).joined(separator: "\n")
    }
    #expect(mistakes(in: members(64)).isEmpty)
    #expect(
      mistakes(in: members(65)) == [
        "1:20: 65 attributes and to-one relationships; a model can have 64. "
          + "Move some to a model of their own and relate the two"
      ]
    )
  }

  @Test func markersBelongToStoredPropertiesOfModels() {
    #expect(
      mistakes(in: "@Attribute(.unique) var title: String { \"\" }")
        == ["2:1: '@Attribute' can only be attached to a stored property"]
    )
    #expect(
      mistakes(in: "@Relationship static var all: [Song] = []")
        == ["2:1: '@Relationship' can only be attached to a stored property"]
    )
    #expect(
      Expansion("class Song { @Attribute(.unique) var title: String }").mistakes
        == ["1:14: '@Attribute' has a meaning only in a class marked '@Model'"]
    )
    #expect(
      Expansion("class Song { #Index<Song>([\\.title]) }").mistakes
        == ["1:14: '#Index' has a meaning only in a class marked '@Model'"]
    )
  }

  @Test func severalMistakesAreToldAtOnce() {
    #expect(mistakes(in: "let title: String\nvar year = 1971\nvar songs: [Song]").count == 7)
  }
}
