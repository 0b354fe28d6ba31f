import Testing

/// What the macros write. Models written by hand with the same text are in the tests of GraphContext.
struct ExpansionTests {
  @Test func anAttributeReadsItsCacheOrItsRecord() {
    #expect(
      expansion(of: "private(set) var title: String = \"\"").contains(
        """
          private(set) var title: String {
            @storageRestrictions(initializes: _title)
            init(newValue) {
              _title = GraphContext.Cached(newValue)
            }
            get {
              if _$state.isFast(0) {
                return _title.value
              }
              _$awake()
              return _$load(0, &_title)
            }
            set {
              _$willSet(0)
              _title = GraphContext.Cached(newValue)
            }
          }

          @exclusivity(unchecked) nonisolated private final var _title: GraphContext.Cached<String>
        """.onOneLine
      )
    )
  }

  @Test func aToOneRelationshipAsksForItsObject() {
    let accessors = """
          get {
            _$awake()
            return _$toOne(0, &_album)
          }
          set {
            _$willSetToOne(newValue)
            let change = _$setToOne(0, &_album, newValue)
            _$didSetToOne(0, change)
          }
      """
    let cache =
      "@exclusivity(unchecked) nonisolated private final var _album: GraphContext.ToOneReference<Album>"
    let optional = expansion(of: "@Relationship var album: Album?")
    #expect(optional.contains(accessors.onOneLine) && optional.contains(cache))
    let spelledOut = expansion(of: "@Relationship var album: Optional<Album>")
    #expect(spelledOut.contains(accessors.onOneLine) && spelledOut.contains(cache))
    let required = expansion(of: "@Relationship var album: Album")
    #expect(
      required.contains(accessors.onOneLine.replacing("_$toOne", with: "_$requiredToOne"))
        && required.contains(cache)
    )
  }

  @Test func anOrderedToOneRelationshipKeepsAPlace() {
    let text = expansion(
      of: """
        @Relationship(.ordered) var album: Album?
        @Relationship(inverse: \\Song.songs) var songs: [Song] = []
        """
    )
    #expect(text.contains("private final var _album: GraphContext.OrderedReference<Album>"))
    #expect(text.contains("_album = GraphContext.OrderedReference(newValue)"))
    #expect(text.contains("return _$toOne(0, &_album.reference)"))
    #expect(text.contains("let change = _$setToOne(0, &_album.reference, newValue)"))
    #expect(text.contains("visitor.visit(toOne: 0, &_album.reference)"))
    #expect(text.contains("visitor.visit(attribute: 1, &_album.place)"))
    #expect(text.contains("visitor.visit(toMany: 0, &_songs)"))
    #expect(text.contains(".toOne(\"album\", Album.self, isOrdered: true),"))
  }

  @Test(arguments: ["[Song]", "Set<Song>", "ToMany<Song>"])
  func aToManyRelationshipIsChangedInPlace(type: String) {
    #expect(
      expansion(of: "@Relationship var others: \(type) = []").contains(
        """
          var others: \(type) {
            @storageRestrictions(initializes: _others)
            init(newValue) {
              _others = GraphContext.ToManyMembers(newValue)
            }
            get {
              _$awake()
              return _$toMany(0, &_others)
            }
            set {
              _others = _$putToMany(0, newValue, isWhole: true)
              _$didPutToMany()
            }
            _modify {
              _$awake()
              var members: \(type) = _$takeToMany(0, &_others)
              defer {
                _others = _$putToMany(0, members)
                _$didPutToMany()
              }
              yield &members
            }
          }

          @exclusivity(unchecked) nonisolated private final var _others: GraphContext.ToManyMembers<Song>
        """.onOneLine
      )
    )
  }

  @Test func theMembersOfAModel() {
    let text = Expansion(
      """
      @Model public final class Song {
        #Index<Song>([\\.title, \\.album], [\\.rating])
        #Index<Song>([\\.title], folding: [.case, .diacritics])
        @Relationship(deleteRule: .cascade) var takes: [Take]
        @Attribute(.unique) public var isrc: String
        var title: String
        @Relationship(inverse: \\Album.songs) var album: Album?
        var rating: Double?
        var `class`: Int
        static let limit = 3
        var label: String { title }
        func play() {}
        init() {}
      }
      """
    ).text
    #expect(
      text.hasSuffix(
        """
          static let limit = 3
          var label: String { title }
          func play() {}
          init() {}

          @exclusivity(unchecked) nonisolated public final var _$state = GraphContext.ObjectState()

          nonisolated public static let entityName = "Song"

          nonisolated public static let _$model = GraphContext.ModelDescription(
            GraphContext.EntityDescription(
              name: "Song",
              properties: [
                .toMany("takes", Take.self, deleteRule: .cascade),
                ._$attribute("isrc", (String).self),
                ._$attribute("title", (String).self),
                .toOne("album", Album.self, inverse: "songs"),
                ._$attribute("rating", (Double?).self),
                ._$attribute("class", (Int).self),
              ],
              indexes: [
                GraphContext.IndexDescription(["isrc"], isUnique: true),
                GraphContext.IndexDescription(["title", "album"], isUnique: false),
                GraphContext.IndexDescription(["rating"], isUnique: false),
                GraphContext.IndexDescription(["title"], isUnique: false, folding: [.case, .diacritics]),
              ]))

          nonisolated public init(_$state state: consuming GraphContext.ObjectState) {
            _$state = state
            _takes = GraphContext.ToManyMembers<Take>()
            _isrc = GraphContext.Cached<String>()
            _title = GraphContext.Cached<String>()
            _album = GraphContext.ToOneReference<Album>()
            _rating = GraphContext.Cached<Double?>()
            _class = GraphContext.Cached<Int>()
          }

          nonisolated public func _$visit<_Visitor: GraphContext.PropertyVisitor>(_ property: Int, _ visitor: inout _Visitor) {
            switch property {
            case 0:
              visitor.visit(attribute: 0, &_isrc)
            case 1:
              visitor.visit(attribute: 1, &_title)
            case 2:
              visitor.visit(toOne: 2, &_album)
            case 3:
              visitor.visit(attribute: 3, &_rating)
            case 4:
              visitor.visit(attribute: 4, &_class)
            case 5:
              visitor.visit(toMany: 0, &_takes)
            default:
              fatalError("Song has no property \\(property)")
            }
          }

          nonisolated public struct Values: GraphContext.ModelValues, @unchecked Sendable {
            public typealias _$Model = Song
            public static let _$names: [String] = ["isrc", "title", "album", "rating", "class"]
            public var objectID: GraphContext.ManagedObjectID?
            public var isrc: String
            var title: String
            var album: GraphContext.ManagedObjectID?
            var rating: Double?
            var `class`: Int

            init(objectID: GraphContext.ManagedObjectID? = nil, isrc: String, title: String, album: GraphContext.ManagedObjectID? = nil, rating: Double? = nil, `class`: Int) {
              self.objectID = objectID
              self.isrc = isrc
              self.title = title
              self.album = album
              self.rating = rating
              self.`class` = `class`
            }
            public init<_Reader: GraphContext.ValuesReader>(_$from reader: inout _Reader) throws(_Reader.Failure) {
              self.objectID = try reader.objectID()
              self.isrc = try reader.attribute()
              self.title = try reader.attribute()
              self.album = try reader.toOne()
              self.rating = try reader.attribute()
              self.`class` = try reader.attribute()
            }
            public func _$visit<_Visitor: GraphContext.ValuesVisitor>(_ visitor: inout _Visitor) {
              visitor.visit(attribute: self.isrc)
              visitor.visit(attribute: self.title)
              visitor.visit(toOne: self.album)
              visitor.visit(attribute: self.rating)
              visitor.visit(attribute: self.`class`)
            }
          }
        }

        nonisolated extension Song: GraphContext.ManagedObject, GraphContext.ModelWithValues {
        }

        @available(*, unavailable, message: "an object stays with its context; send its objectID instead")
        extension Song: Sendable {
        }
        """.onOneLine
      )
    )
  }

  @Test func aRelationshipCanBeItsOwnInverse() {
    let text = expansion(of: "@Relationship(inverse: .itself) var covers: Set<Song>")
    #expect(text.contains(".toMany(\"covers\", Song.self, inverse: \"covers\"),"))
  }

  @Test func originalNamesStandInTheDescription() {
    let text = Expansion(
      """
      @Model(originalName: "Track") final class Song {
        @Attribute(.unique, originalName: "name") var title: String
        @Attribute(originalName: "class") var genre: Int = 1
        @Relationship(deleteRule: .deny, inverse: \\Album.songs, originalName: "record") var album: Album?
        @Relationship(inverse: .itself, originalName: "copies") var covers: Set<Song> = []
        init() {}
      }
      """
    ).text
    #expect(
      text.contains(
        """
              properties: [
                ._$attribute("title", (String).self, originalName: "name"),
                ._$attribute("genre", (Int).self, default: 1, originalName: "class"),
                .toOne("album", Album.self, inverse: "songs", deleteRule: .deny, originalName: "record"),
                .toMany("covers", Song.self, inverse: "covers", originalName: "copies"),
              ],
              indexes: [
                GraphContext.IndexDescription(["title"], isUnique: true),
              ], originalName: "Track"))
        """.onOneLine
      )
    )
  }

  @Test(arguments: [
    ("Int", "1990", "1990"), ("Int", "-5", "-5"), ("Int", "0xff", "0xff"), ("Double?", "-1.5e3", "-1.5e3"),
    ("Bool", "true", "true"), ("String", "\"a\\n\\u{e9}\"", "\"a\\n\u{e9}\""),
    ("String", "#\"a\"b\"#", "\"a\\\"b\""),
    ("String", "\"\"\"\n    two\n    lines\n    \"\"\"", "\"two\\nlines\""),
  ])
  func aLiteralIsTheDefault(type: String, value: String, text: String) {
    let expansion = expansion(of: "var value: \(type) = \(value)")
    #expect(expansion.contains("._$attribute(\"value\", (\(type)).self, default: \(text)),"))
  }

  @Test(arguments: [
    ("Date", ".now"), ("Cabin", ".economy"), ("Cabin", "Cabin.first"), ("Cabin?", "Cabin.first"),
    ("Plane.Cabin", "Cabin.first"), ("Double", "Double.pi"), ("Date", "Date()"), ("Data", "Data()"),
    ("UUID", "UUID()"), ("Decimal", "Decimal(-1.5)"), ("Date", "Date(timeIntervalSince1970: 0)"),
    ("Optional<Cabin>", "Cabin.first"),
  ])
  func anyOtherPlainInitialValueIsMadeEachTime(type: String, value: String) {
    let expansion = expansion(of: "var value: \(type) = \(value)")
    #expect(expansion.contains("._$attribute(\"value\", (\(type)).self, eachTime: { \(value) }),"))
  }

  /// The description belongs to no actor and is made once, so what isn't plain can't stand in it.
  @Test(arguments: [
    ("Int?", "nil"), ("Int", "1 + 1"), ("Int", "makeYear()"), ("Int", "Limits.year"), ("Int", "Song.year"),
    ("String", "\"a\\(b)\""), ("Int", "{ 5 }()"), ("Date", "Date(timeIntervalSince1970: start)"),
    ("Date", "Date(timeInterval: 5, since: .now)"), ("Data", "Data(count: 1_000_000)"), ("Int", "year"),
    ("Email", "Email(rawValue: \"a\")!"), ("Date", ".now.addingTimeInterval(5)"), ("Int", "~1"),
  ])
  func anyOtherInitialValueIsNoDefault(type: String, value: String) {
    let expansion = expansion(of: "var value: \(type) = \(value)")
    #expect(expansion.contains("._$attribute(\"value\", (\(type)).self),"))
  }

  @Test(arguments: [("public", "public "), ("package", "package "), ("internal", ""), ("fileprivate", "")])
  func membersAreAsVisibleAsTheProtocolAsks(access: String, prefix: String) {
    let text = Expansion("@Model \(access) final class Song {}").text
    #expect(text.contains("\n  nonisolated \(prefix)static let entityName = \"Song\"".onOneLine))
    #expect(
      text.contains(
        "\n  @exclusivity(unchecked) nonisolated \(prefix)final var _$state = GraphContext.ObjectState()"
          .onOneLine
      )
    )
  }

  @Test func valuesLeaveOutWhatIsLongAndWhatIsNotStored() {
    let text = Expansion(
      """
      @Model final class Song {
        @Attribute(.externalStorage) var cover: Data?
        @Transient var isSelected = false
        @Relationship(inverse: \\Tag.songs) var tags: [Tag]
        var title: String
        init() {}
      }
      """
    ).text
    #expect(text.contains("static let _$names: [String] = [\"title\"]"))
  }

  /// The values' initializer is as visible as the properties that must be given, and takes those that are as visible as itself.
  @Test func valuesAreAsVisibleAsTheirProperties() {
    let text = Expansion(
      """
      @Model public final class Song {
        public private(set) var plays: Int = 0
        public var title: String
        private var secret: Secret = .none
        fileprivate(set) var rating: Int = 1
        init() {}
      }
      """
    ).text
    #expect(text.contains("\n    public fileprivate(set) var plays: Int\n".onOneLine))
    #expect(
      text.contains("\n    private var secret: Secret\n    fileprivate(set) var rating: Int\n".onOneLine)
    )
    #expect(
      text.contains(
        "public init(objectID: GraphContext.ManagedObjectID? = nil, plays: Int = Values._$default_plays, title: String) {"
      )
    )
    #expect(
      text.contains(
        "self.secret = Values._$initial(.none)\n      self.rating = Values._$initial(1)\n".onOneLine
      )
    )
  }

  @Test(arguments: [
    "struct Values {}", "enum Values {}", "typealias Values = Int", "final class Values {}",
    "static let Values = 1",
  ])
  func aTypeOfTheModelsOwnStandsInThePlaceOfValues(declaration: String) {
    let text = expansion(of: declaration)
    #expect(!text.contains("ModelValues") && text.contains("extension Song: GraphContext.ManagedObject {"))
  }

  @Test func whatAnInsertionMakesIsMadeForValuesToo() {
    let text = expansion(of: "@Attribute(.perInsert { UUID() }) var token: UUID")
    #expect(text.contains("token: UUID = Values._$initial(({"))
  }

  @Test func aClassThatCannotBeAModelExpandsToNothing() {
    let text = Expansion("@Model final class Song<T> {\n  var title: String\n  init() {}\n}").text
    #expect(text == "final class Song<T> { var title: String init() {} }")
  }

  /// Otherwise whatever uses the model would be wrong too, and the one mistake lost among the messages.
  @Test func aMistakenPropertyIsLeftOut() {
    let text = Expansion("@Model final class Song {\n  let isrc: String\n  var title: String\n}").text
    #expect(text.contains("\n  let isrc: String\n  var title: String {".onOneLine))
    #expect(text.contains("extension Song: GraphContext.ManagedObject"))
    #expect(!text.contains("_isrc") && !text.contains("\"isrc\""))
  }

  /// The text of a model that has this one property.
  private func expansion(of property: String) -> String {
    Expansion("@Model final class Song {\n  \(property)\n}").text
  }
}
