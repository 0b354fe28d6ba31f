import Testing

/// Errors that the compiler reports because a macro can't: errors about types, of which a macro sees only the
/// spelling. The tests also check that one mistake gives one message, as far as the compiler allows it.
struct TypeErrorTests {
  /// - Parameter use: code that is correct beside the property.
  private func messages(for property: String, use: String = "") throws -> [String] {
    try Compiler.messages(
      for: """
        struct Point: Codable, Hashable { var x = 0 }
        enum Genre: String, Codable { case folk, jazz }
        enum Weather { case dry, wet }
        @propertyWrapper struct Clamped { var wrappedValue: Int }
        @Model final class Place {
          var title: String
          \(property)
          init() { title = "" }
        }
        func use(_ context: ManagedObjectContext) throws {
          context.insert(Place())
          for place in try context.fetch(From<Place>().where(\\.title == "a")) { print(place.title) }
        }
        \(use)
        """
    )
  }

  @Test func aSoundModelHasNone() throws {
    let messages = try messages(for: "@Relationship var thing: Thing?")
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func aTypeThatCannotBeStoredIsOneError() throws {
    let types = ["Point = Point()", "Point?", "Weather = Weather.dry", "Weather?", "ObjectIdentifier?"]
    let messages = try messages(
      for: types.enumerated().map { "var value\($0): \($1)" }.joined(separator: "\n")
    )
    let hint = "add 'CodableAttribute' if it is Codable and no query compares it, or make the type a model"
    #expect(messages.count == types.count && messages.allSatisfy { $0.contains(hint) }, "\(messages)")
  }

  /// The value is also in the model's description, which reports no second error.
  @Test func anInitialValueOfAnotherTypeIsOneError() throws {
    let messages = try messages(
      for: "var count: Int = \"many\"\n  var date: Date = 5.5\n  var on: Bool = Double.pi"
    )
    #expect(messages.count == 3 && messages.allSatisfy { $0.contains("main.swift") }, "\(messages)")
  }

  @Test func aTypeWithARawValueHasToSaySo() throws {
    let messages = try messages(for: "var value: Genre = Genre.folk\n  var other: Genre?")
    let hint = "as in 'enum Genre: String, AttributeType'"
    #expect(messages.count == 2 && messages.allSatisfy { $0.contains(hint) }, "\(messages)")
  }

  @Test func anUnmarkedRelationshipIsToldApart() throws {
    let messages = try messages(for: "var thing: Thing?")
    #expect(messages.count == 1, "\(messages)")
    #expect(messages.contains { $0.contains("mark the property '@Relationship'") })
  }

  @Test func aRelationshipLeadsToAModel() throws {
    let messages = try messages(for: "@Relationship var name: String?")
    #expect(messages.count == 1 && messages[0].contains("'String' is a value"), "\(messages)")
  }

  /// No macro can give a better message, because the compiler stops before it expands one. The documentation of
  /// `@Relationship` quotes the message.
  @Test func anInverseAtBothEndsIsACircle() throws {
    let messages = try messages(
      for: "@Relationship(inverse: \\Town.places) var town: Town?",
      use: """
        @Model final class Town {
          @Relationship(inverse: \\Place.town) var places: [Place] = []
          init() {}
        }
        """
    )
    #expect(messages.contains { $0.contains("circular reference resolving attached macro 'Relationship'") })
  }

  @Test func aMistakenPropertyIsOneError() throws {
    let messages = try messages(
      for: "@Clamped var a: Int = 1\n  let b: Int = 1\n  var c: Int128 = 1",
      use: "extension Place { func changeValue() { a = 2; c = 3 } }"
    )
    let expected = ["'a' can't be '@Clamped'", "'b' must be a 'var'", "use 'Int64', 'Decimal' or 'Data'"]
    #expect(messages.count == 3 && zip(messages, expected).allSatisfy { $0.contains($1) }, "\(messages)")
  }

  @Test func aMissingInitializerIsOneError() throws {
    let messages = try messages(
      for: "",
      use: """
        @Model final class Town {
          var name: String
        }
        let town = Town(name: "Ulm")
        """
    )
    #expect(messages.count == 1 && messages[0].contains("'Town' needs an initializer"), "\(messages)")
  }

  /// The macro suggests the correct spelling, and the compiler reports the mistake in the key path.
  @Test func aMisspeltPropertyInAnIndexIsReportedWhereItStands() throws {
    let messages = try Compiler.messages(
      for: """
        @Model final class Place {
          #Index<Place>([\\.titel])
          #Unique<Place>([\\.title, \\.titles])
          var title: String
          init() { title = "" }
        }
        """,
      after: "import Cambium\n"
    )
    #expect(messages.count == 4, "\(messages)")
    #expect(messages.contains { $0.contains(":3:18: error: 'titel' is not a stored property of 'Place'") })
    #expect(messages.contains { $0.contains(":4:28: error: 'titles' is not a stored property of 'Place'") })
    #expect(messages.contains { $0.contains(":3:18: error: value of type 'Place' has no member 'titel'") })
    #expect(messages.contains { $0.contains(":4:28: error: value of type 'Place' has no member 'titles'") })
  }

  @Test func aClassIsNoQuery() throws {
    let messages = try messages(
      for: "",
      use: """
        func titles(_ context: ManagedObjectContext) throws -> [String] {
          try context.fetch(Place.self).map(\\.title)
        }
        """
    )
    #expect(messages.count == 1 && messages[0].contains("'fetch(From<Song>())'"), "\(messages)")
  }

  @Test func aMisspeltPropertyInAQueryIsNamed() throws {
    let queries = [
      "where { $0.titel == \"a\" }", "where { $0.titel == \"a\" && $0.title != \"b\" }",
      "where((\\Place.titel) == \"a\")", "select(\\.title, \\.titel)", "groupBy(\\.titel).aggregate(.count)",
      "groupBy(\\.title).aggregate(.max(\\.titel))",
    ]
    let messages = try messages(
      for: "",
      use: queries.map { "_ = From<Place>().\($0)" }.joined(separator: "\n")
    )
    #expect(
      messages.count == queries.count && messages.allSatisfy { $0.contains("member 'titel'") },
      "\(messages)"
    )
  }
}
