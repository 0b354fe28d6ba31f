import Foundation
import GraphTestSupport
import PageStore
import Predicates
import Testing

@testable import GraphContext

/// Changes of attributes that opening a store infers. Docs/SchemaChanges.md lists them.
struct InferredAttributeTests {
  private let store: ChangingStore
  private let title = attribute("title", .string)
  private let seconds = attribute("seconds", .int16)
  private let mood = attribute("mood", .string, optional: true)

  init() throws { store = try ChangingStore() }

  /// Three songs, the second of which has no mood.
  private func fill(indexes: [IndexDescription] = []) async throws {
    try await store.open(entity("Song", [title, seconds, mood], indexes: indexes)) { context throws in
      for (title, seconds, mood) in [("Carey", 182, "gay"), ("Blue", 185, nil), ("Gulf", 170, "blue")] {
        try context.make(
          "Song",
          [
            "title": .string(title), "seconds": .int(Int64(seconds)),
            "mood": mood.map { .string($0) } ?? .null,
          ]
        )
      }
    }
  }

  private let titles: [AttributeValue] = [.string("Carey"), .string("Blue"), .string("Gulf")]

  // MARK: Added, removed, renamed

  @Test func anAttributeIsAdded() async throws {
    try await fill()
    let next = entity(
      "Song",
      [
        attribute("rating", .double, optional: true), title, seconds, mood,
        attribute("plays", .int64, default: .int(7)),
      ],
      indexes: [IndexDescription(["plays", "title"]), IndexDescription(["rating"])]
    )
    try await store.open(next) { context throws in
      #expect(try context.values("Song", "rating") == [.null, .null, .null])
      #expect(try context.values("Song", "plays") == [.int(7), .int(7), .int(7)])
      #expect(try context.values("Song", "title") == titles)
      #expect(try context.numbers("Song", "plays == 7 AND title == 'Blue'") == [2])
      #expect(try context.numbers("Song", "plays == 7 AND seconds > 180") == [1, 2])
      #expect(try context.numbers("Song", "rating == NIL") == [1, 2, 3])
      #expect(try context.numbers("Song", sortedBy: "rating") == [1, 2, 3])
      try context.fetch(DynamicQuery("Song"))[1].set("plays", to: 8)
    }
    try await store.open(next) { context throws in
      #expect(try context.values("Song", "plays") == [.int(7), .int(8), .int(7)])
      #expect(try context.values("Song", "mood") == [.string("gay"), .null, .string("blue")])
      #expect(try context.numbers("Song", sortedBy: "plays") == [1, 3, 2])
      #expect(try context.headers("Song").map(\.layout) == [0, 1, 0])
    }
  }

  @Test func theFirstDefaultStays() async throws {
    try await fill()
    for _ in 0..<2 {
      let key = UUID()
      let next = entity(
        "Song",
        [title, seconds, mood, attribute("key", .uuid, default: .uuid(key))],
        indexes: [IndexDescription(["key"])]
      )
      let first = try await store.open(next) { try $0.values("Song", "key") }
      let later = entity(
        "Song",
        [title, seconds, mood, attribute("key", .uuid, default: .uuid(UUID()))],
        indexes: [IndexDescription(["key"])]
      )
      #expect(try await store.open(later) { try $0.values("Song", "key") } == first)
      #expect(Set(first).count == 1)
    }
  }

  /// The value of a Float attribute is rounded, in a record and in a default, also if the attribute becomes a Double
  /// later.
  @Test func aDefaultIsOfItsKind() async throws {
    try await fill()
    let rounded = AttributeValue.double(Double(Float(0.1)))
    let index = [IndexDescription(["gain"])]
    for kind in [AttributeKind.float, .double] {
      let gain = attribute("gain", kind, default: .double(0.1))
      try await store.open(entity("Song", [title, seconds, mood, gain], indexes: index)) { context throws in
        #expect(try context.values("Song", "gain") == [rounded, rounded, rounded])
      }
    }
  }

  @Test func aRequiredAttributeWithoutADefaultNeedsAnEmptyEntity() async throws {
    try await store.open(entity("Song", [title]), entity("Album", [title])) { context throws in
      try context.make("Song", ["title": .string("Carey")])
    }
    let error = try await store.refusal(of: entity("Song", [title, seconds]), entity("Album", [title]))
    #expect(error.code == .schemaMismatch && error.context.properties == ["seconds"])
    try await store.open(entity("Song", [title]), entity("Album", [title, seconds])) { context throws in
      try context.make("Album", ["title": .string("Blue"), "seconds": .int(1)])
    }
    try await store.open(entity("Song", [title]), entity("Album", [title, seconds])) { context throws in
      #expect(try context.values("Album", "seconds") == [.int(1)])
    }
  }

  @Test func anAttributeIsRemoved() async throws {
    try await fill(indexes: [IndexDescription(["mood"]), IndexDescription(["seconds"])])
    let next = entity("Song", [title, seconds], indexes: [IndexDescription(["seconds"])])
    for round in 0..<2 {
      try await store.open(next) { context throws in
        #expect(try context.values("Song", "title") == titles)
        #expect(try context.numbers("Song", "seconds > 180") == [1, 2])
        #expect(throws: ContextError.self) { try context.values("Song", "mood") }
        try context.fetch(DynamicQuery("Song"))[round].set("seconds", to: Int16(200))
      }
    }
  }

  @Test func anAttributeIsRenamed() async throws {
    try await fill(indexes: [IndexDescription(["mood"])])
    let feeling = attribute("feeling", .string, optional: true, was: "mood")
    let next = entity("Song", [title, seconds, feeling], indexes: [IndexDescription(["feeling"])])
    for round in 0..<2 {
      try await store.open(next) { context throws in
        #expect(try context.values("Song", "feeling")[1...] == [.null, .string("blue")])
        #expect(try context.numbers("Song", "feeling == 'blue'") == [3])
        #expect(try context.headers("Song").map(\.layout) == [0, 0, 0])
        try context.fetch(DynamicQuery("Song"))[0].set("feeling", to: "\(round)")
      }
    }
  }

  @Test func withoutItsOriginalNameARenamedAttributeIsANewOne() async throws {
    try await fill()
    try await store.open(entity("Song", [title, attribute("feeling", .string, optional: true)])) {
      context throws in
      #expect(try context.values("Song", "feeling") == [.null, .null, .null])
    }
  }

  @Test func namesMoveOn() async throws {
    let strings = { (names: [(String, String?)]) in
      entity("Song", names.map { attribute($0, .string, optional: true, was: $1) })
    }
    try await store.open(strings([("a", nil), ("b", nil), ("c", nil)])) { context throws in
      try context.make("Song", ["a": .string("A"), "b": .string("B"), "c": .string("C")])
    }
    try await store.open(strings([("b", "a"), ("c", "b"), ("d", "c"), ("a", nil)])) { context throws in
      #expect(
        try ["a", "b", "c", "d"].map { try context.values("Song", $0)[0] }
          == [.null, .string("A"), .string("B"), .string("C")]
      )
    }
    // The hints that are left in the models have no effect.
    try await store.open(strings([("b", "a"), ("c", "b"), ("d", "c"), ("a", nil)])) { context throws in
      #expect(try context.values("Song", "b") == [.string("A")])
      #expect(try context.values("Song", "a") == [.null])
    }
  }

  @Test func aNameUsedAgainShowsNoOldValues() async throws {
    try await fill(indexes: [IndexDescription(["mood"])])
    // In one step: the old attribute continues under another name.
    let moved = attribute("feeling", .string, optional: true, was: "mood")
    let indexes = [IndexDescription(["mood"]), IndexDescription(["feeling"])]
    try await store.open(entity("Song", [title, seconds, moved, mood], indexes: indexes)) { context throws in
      #expect(try context.values("Song", "mood") == [.null, .null, .null])
      #expect(try context.numbers("Song", "mood == NIL") == [1, 2, 3])
      #expect(try context.values("Song", "feeling")[2] == .string("blue"))
      try context.fetch(DynamicQuery("Song"))[0].set("mood", to: "new")
    }
    // In two steps, of the same kind and of another one.
    try await store.open(entity("Song", [title, mood])) { context throws in
      #expect(try context.values("Song", "mood") == [.string("new"), .null, .null])
    }
    try await store.open(entity("Song", [mood])) { _ in }
    try await store.open(
      entity(
        "Song",
        [
          mood, attribute("title", .string, default: .string("?")),
          attribute("seconds", .uuid, optional: true),
        ]
      )
    ) { context throws in
      #expect(try context.values("Song", "title") == [.string("?"), .string("?"), .string("?")])
      #expect(try context.values("Song", "seconds") == [.null, .null, .null])
    }
  }

  @Test func propertiesInAnotherOrderAreTheSame() async throws {
    try await fill(indexes: [IndexDescription(["mood"])])
    let next = entity("Song", [mood, seconds, title], indexes: [IndexDescription(["mood"])])
    let before = try Data(contentsOf: store.url)
    let container = try await PersistentContainer("Songs", schema: Schema(entities: [next]), at: store.url)
    try await container.close()
    #expect(try Data(contentsOf: store.url) == before)
    for round in 0..<2 {
      try await store.open(next) { context throws in
        #expect(try context.values("Song", "title") == titles)
        #expect(try context.headers("Song").map(\.layout) == [0, 0, 0])
        try context.fetch(DynamicQuery("Song"))[2].set("mood", to: "\(round)")
      }
    }
  }

  // MARK: Optionality

  @Test func anAttributeIsLoosened() async throws {
    try await fill(indexes: [IndexDescription(["seconds"])])
    let loose = attribute("seconds", .int16, optional: true)
    let next = entity("Song", [title, loose, mood], indexes: [IndexDescription(["seconds"])])
    try await store.open(next) { context throws in
      #expect(try context.headers("Song").map(\.layout) == [0, 0, 0])
      try context.fetch(DynamicQuery("Song"))[0].set("seconds", to: AttributeValue.null)
    }
    try await store.open(next) { context throws in
      #expect(try context.values("Song", "seconds") == [.null, .int(185), .int(170)])
      #expect(try context.numbers("Song", "seconds == NIL") == [1])
    }
  }

  @Test func nilBecomesTheDefaultOfARequiredAttribute() async throws {
    let index = [IndexDescription(["mood"])]
    try await fill(indexes: index)
    func songs(_ mood: PropertyDescription) -> EntityDescription {
      entity("Song", [title, seconds, mood], indexes: index)
    }
    try await store.open(songs(attribute("mood", .string, default: .string("calm")))) { context throws in
      #expect(try context.values("Song", "mood") == [.string("gay"), .string("calm"), .string("blue")])
      #expect(try context.numbers("Song", "mood == 'calm'") == [2])
      #expect(try context.numbers("Song", "mood == NIL") == [])
      #expect(try context.numbers("Song", sortedBy: "mood") == [3, 2, 1])
      #expect(try context.numbers("Song", "mood CONTAINS 'al'") == [2])
    }
    // Optional again: values that were read stay, and a nil that is set from now on is nil.
    try await store.open(songs(mood)) { context throws in
      #expect(try context.values("Song", "mood")[1] == .string("calm"))
      try context.fetch(DynamicQuery("Song"))[0].set("mood", to: AttributeValue.null)
    }
    // Required with another default, which only the newer nil gets.
    try await store.open(songs(attribute("mood", .string, default: .string("new")))) { context throws in
      #expect(try context.values("Song", "mood") == [.string("new"), .string("calm"), .string("blue")])
      #expect(try context.numbers("Song", "mood == 'calm'") == [2])
      #expect(try context.numbers("Song", "mood == 'new'") == [1])
      for song in try context.fetch(DynamicQuery("Song")) { try song.set("seconds", to: Int16(1)) }
    }
    try await store.open(songs(mood)) { context throws in
      #expect(try context.values("Song", "mood") == [.string("new"), .string("calm"), .string("blue")])
    }
  }

  @Test func aRequiredAttributeWithoutADefaultNeedsValues() async throws {
    try await fill()
    let required = attribute("mood", .string)
    let error = try await store.refusal(of: entity("Song", [title, seconds, required]))
    #expect(error.code == .missingValue)
    #expect(error.refusal?.offenders.map(\.objectID.number.rawValue) == [2])
    #expect(error.refusal?.offenders.map(\.properties) == [["mood"]])
    try await store.open(entity("Song", [title, seconds, mood])) { context throws in
      try context.fetch(DynamicQuery("Song"))[1].set("mood", to: "sad")
    }
    try await store.open(entity("Song", [title, seconds, required])) { context throws in
      #expect(try context.values("Song", "mood") == [.string("gay"), .string("sad"), .string("blue")])
      #expect(try context.headers("Song").map(\.layout) == [0, 0, 0])
    }
  }

  // MARK: Kinds

  /// Each kind and a wider one.
  static let widenings = AttributeKind.allCases.flatMap { kind in
    AttributeKind.allCases.filter { $0 != kind && kind.canWiden(to: $0) }.map { [kind, $0] }
  }

  @Test func theWideningsAreThoseOfTheGuide() {
    #expect(Self.widenings.count == 37)
  }

  @Test(arguments: widenings) func anAttributeIsWidened(_ kinds: [AttributeKind]) async throws {
    let values = Self.values(kinds[0]) + [.null]
    func items(_ kind: AttributeKind) -> EntityDescription {
      entity(
        "Item",
        [attribute("value", kind, optional: true), attribute("twin", kind, optional: true)],
        indexes: [IndexDescription(["value"], isUnique: true)]
      )
    }
    try await store.open(items(kinds[0])) { context throws in
      for value in values { try context.make("Item", ["value": value, "twin": value]) }
    }
    for _ in 0..<2 {
      try await store.open(items(kinds[1])) { context throws in
        try check(values.map { Self.widened($0, kinds[1]) }, in: context)
        // A record of the newest layout among the others.
        let first = try #require(try context.fetch(DynamicQuery("Item")).first)
        try first.set("twin", to: AttributeValue.null)
        try context.save()
        try first.set("twin", to: first["value"])
      }
    }
  }

  private func check(_ values: [AttributeValue], in context: ManagedObjectContext) throws {
    #expect(try context.values("Item", "value") == values)
    #expect(try context.values("Item", "twin") == values)
    for value in values where !value.isNull {
      for comparison in [ComparisonOperator.equal, .less, .greaterOrEqual] {
        let found = try ["value", "twin"].map { name in
          let condition = PredicateTree.comparison(.path([name]), comparison, .value(value), [])
          return try context.fetch(DynamicQuery("Item", where: condition)).map(\.objectID.number).sorted()
        }
        #expect(found[0] == found[1])
        if comparison == .equal { #expect(found[0].count == 1 || "\(value)".contains("nan")) }
      }
    }
    #expect(try context.numbers("Item", sortedBy: "value") == context.numbers("Item", sortedBy: "twin"))
    let groups = try ["value", "twin"].map { name in
      var query = DynamicQuery("Item")
      query.groupBy = [name]
      query.sort = [.init(name)]
      return try DynamicStore(context.store).groups(of: query).map(\.values)
    }
    #expect(groups[0] == groups[1] && groups[0].count == values.count)
  }

  private static func values(_ kind: AttributeKind) -> [AttributeValue] {
    func extremes<T: FixedWidthInteger>(_ type: T.Type) -> [AttributeValue] {
      Set([T.min, .max, T.max / 2, 0, 1, 77, 0 &- 2]).map { value in
        Int64(exactly: value).map(AttributeValue.int) ?? .uint(UInt64(value))
      }
    }
    return switch kind {
    case .int8: extremes(Int8.self)
    case .int16: extremes(Int16.self)
    case .int32: extremes(Int32.self)
    case .int64: extremes(Int64.self)
    case .uint8: extremes(UInt8.self)
    case .uint16: extremes(UInt16.self)
    case .uint32: extremes(UInt32.self)
    case .uint64: extremes(UInt64.self)
    default:
      [Float.greatestFiniteMagnitude, -.leastNonzeroMagnitude, 0.1, -1.5, 0, .infinity, .nan].map {
        .double(Double($0))
      }
    }
  }

  private static func widened(_ value: AttributeValue, _ kind: AttributeKind) -> AttributeValue {
    switch (value, kind) {
    case (.int(let value), .float), (.int(let value), .double): .double(Double(value))
    case (.int(let value), .decimal): .decimal(Decimal(string: "\(value)") ?? .nan)
    case (.uint(let value), .decimal): .decimal(Decimal(string: "\(value)") ?? .nan)
    default: value
    }
  }

  @Test func aDefaultIsWidenedWithItsAttribute() async throws {
    try await fill()
    for kind in [AttributeKind.int8, .int32, .double] {
      let plays = attribute("plays", kind, default: kind == .double ? .double(9) : .int(5))
      try await store.open(entity("Song", [title, seconds, mood, plays])) { context throws in
        #expect(try context.values("Song", "plays")[0] == (kind == .double ? .double(5) : .int(5)))
      }
    }
  }

  // MARK: Old records

  @Test func writingAnOldObjectBringsItsRecordToTheNewestLayout() async throws {
    try await fill()
    let before = try await store.open(entity("Song", [title, seconds, mood])) { try $0.headers("Song") }
    let plays = attribute("plays", .int64, default: .int(7))
    let next = entity("Song", [title, attribute("seconds", .int64), mood, plays])
    try await store.open(next) { context throws in
      // Reading is no change.
      #expect(try context.values("Song", "plays") == [.int(7), .int(7), .int(7)])
      #expect(!context.hasChanges)
      try context.fetch(DynamicQuery("Song"))[1].set("mood", to: "sad")
    }
    try await store.open(next) { context throws in
      let after = try context.headers("Song")
      #expect(after.map(\.layout) == [0, 1, 0])
      #expect([after[0].commit, after[2].commit] == [before[0].commit, before[2].commit])
      #expect(after[1].commit > before[1].commit)
      #expect(try context.values("Song", "title") == titles)
      #expect(try context.values("Song", "seconds") == [.int(182), .int(185), .int(170)])
      #expect(try context.values("Song", "mood")[1] == .string("sad"))
    }
  }

  /// Two contexts that change records of an earlier layout conflict as with other records. Reading such records
  /// causes no conflict.
  @Test func onlyAWrittenRecordConflicts() async throws {
    try await fill()
    try await store.open(
      entity("Song", [title, seconds, mood, attribute("plays", .int64, default: .int(7))])
    ) { context throws in
      let other = try ManagedObjectContext(coordinator: context.coordinator)
      _ = try other.values("Song", "plays")
      try context.fetch(DynamicQuery("Song"))[0].set("plays", to: 8)
      try context.save()
      try other.fetch(DynamicQuery("Song"))[1].set("plays", to: 9)
      try other.save()
      try other.fetch(DynamicQuery("Song"))[0].set("plays", to: 10)
      try context.fetch(DynamicQuery("Song"))[0].set("plays", to: 11)
      try other.save()
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
      other.end()
    }
  }
}
