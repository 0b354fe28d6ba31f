import Cambium
import Foundation
import TestSupport
import Testing

/// Attributes whose values closures turn into those of another type.
struct TransformedAttributeTests {
  /// A type that is independent of stores.
  struct Tint: Hashable, Sendable {
    var red, green, blue: UInt8
    static let black = Tint(red: 0, green: 0, blue: 0)
    static let moss = Tint(red: 16, green: 128, blue: 32)

    init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

    init?(hex: String) {
      guard hex.count == 6, let number = UInt32(hex, radix: 16) else { return nil }
      self.init(red: UInt8(number >> 16), green: UInt8(number >> 8 & 255), blue: UInt8(number & 255))
    }

    var hex: String {
      let text = String(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue), radix: 16)
      return String(repeating: "0", count: 6 - text.count) + text
    }
  }

  struct NoSpan: Error {}

  @Model final class Flower {
    #Index<Flower>([\.tint, \.name])
    var name: String
    @Attribute(
      .transformed(as: String.self, to: { $0.hex }, from: { Tint(hex: $0) }),
      .length(6...6),
      .preserveValueOnDeletion
    )
    var tint: Tint = Tint.black
    @Attribute(.unique, .transformed(as: String.self, to: \.hex, from: Tint.init(hex:), placeholder: .black))
    var leaf: Tint?
    /// Weeks, as text, or an error.
    @Attribute(
      .transformed(as: Int.self, to: { $0.count }, from: { if $0 < 0 { throw NoSpan() } else { 0..<$0 } }),
      .max(52)
    )
    var weeks: Range<Int>
    @Attribute(
      .perInsert { Tint(red: 1, green: 2, blue: 3) },
      .transformed(as: UInt32.self) {
        UInt32($0.red)
      } from: {
        Tint(red: UInt8($0), green: 2, blue: 3)
      }
    )
    var seed: Tint
    /// A type that no attribute has, of a list.
    @Attribute(
      .transformed(
        as: [String].self,
        to: { $0.keys.sorted() },
        from: { Dictionary(uniqueKeysWithValues: $0.map { ($0, 1) }) }
      )
    )
    var words: [String: Int] = [:]

    init(_ name: String, tint: Tint, weeks: Range<Int> = 0..<4) {
      self.name = name
      self.weeks = weeks
      self.tint = tint
    }
  }

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("flowers"))
    container = try await PersistentContainer("Flowers", models: Flower.self, at: url)
  }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.file(name)) }

  private func fill() async throws {
    try await container.performBackgroundTask { context in
      let fern = Flower("fern", tint: .moss)
      fern.leaf = Tint(red: 255, green: 0, blue: 1)
      fern.words = ["green": 1, "shade": 1]
      context.insert(fern)
      context.insert(Flower("ink", tint: .black, weeks: 0..<9))
      try context.save()
    }
  }

  @Test func valuesComeBackAsTheyWere() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let flowers = try context.fetch(From<Flower>().orderBy(\.name))
      #expect(flowers.map(\.tint) == [.moss, .black])
      #expect(flowers.map(\.leaf) == [Tint(red: 255, green: 0, blue: 1), nil])
      #expect(flowers.map(\.weeks) == [0..<4, 0..<9])
      #expect(flowers.map(\.seed) == [Tint(red: 1, green: 2, blue: 3), Tint(red: 1, green: 2, blue: 3)])
      #expect(flowers.map(\.words) == [["green": 1, "shade": 1], [:]])
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func aChangeIsSavedUndoneAndCompared() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let fern = try #require(try context.fetchOne(From<Flower>().where { $0.name == "fern" }))
      fern.tint = .moss
      try context.save()
      fern.tint.red = 17
      #expect(fern.changedValues.keys.sorted() == ["tint"])
      context.rollback()
      #expect(fern.tint == .moss)
      fern.tint.red = 17
      fern.leaf = nil
      try context.save()
      context.refresh(fern, mergeChanges: false)
      #expect(fern.tint.red == 17 && fern.leaf == nil)
    }
  }

  @Test func queriesAreAboutWhatIsStored() async throws {
    try await fill()
    try await container.performBackgroundTask { context throws in
      let green = From<Flower>().where(format: "tint == %@", "108020")
      #expect(try context.fetch(green).map(\.name) == ["fern"])
      #expect(try context.explain(green).description.contains("index tint,name"))
      #expect(try context.count(From<Flower>().where(format: "weeks > 4 AND leaf == nil")) == 1)
      #expect(try context.count(From<Flower>().where(format: "ANY words BEGINSWITH 'sh'")) == 1)
      let pale = From<Flower>().where {
        $0.tint.stored(as: String.self).hasPrefix("10") && $0.leaf.stored(as: String.self) != nil
      }
      #expect(try context.fetch(pale).map(\.name) == ["fern"])
      let inOrder = From<Flower>().orderBy(.stored(\.weeks, ascending: false), .stored(\.leaf))
      #expect(try context.fetch(inOrder).map(\.name) == ["ink", "fern"])
      let other = From<Flower>().where { $0.weeks.stored(as: String.self) == "4" }
      #expect(throws: ContextError.self) { try context.fetch(other) }
      var sorted = DynamicQuery("Flower")
      sorted.sort = [.init("tint", ascending: false)]
      #expect(try context.fetch(sorted, as: Flower.self).map(\.name) == ["fern", "ink"])
      #expect(try Flower.predicatePath(of: \Flower.tint) == ["tint"])
      #expect(try Flower.predicatePath(of: \Flower.leaf) == ["leaf"])
      #expect(throws: QueryError.self) { try Flower.predicatePath(of: \Flower.tint.hex) }
    }
  }

  @Test func rulesAndUniquenessAreAboutWhatIsStored() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let long = Flower("long", tint: .black, weeks: 0..<53)
      context.insert(long)
      #expect(throws: ContextError.self) { try context.save() }
      long.weeks = 0..<52
      long.leaf = Tint(red: 255, green: 0, blue: 1)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .notUnique)
    }
  }

  @Test func valuesOfAnObjectHaveThem() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      var values = try #require(try context.fetch(From<Flower>().where { $0.name == "fern" }.values()).first)
      let original = values
      #expect(
        values.tint == .moss && values.leaf == Tint(red: 255, green: 0, blue: 1) && values.weeks == 0..<4
      )
      values.tint = .black
      values.leaf = nil
      #expect(values.differences(from: original) == ["tint", "leaf"])
      let copy = try JSONDecoder().decode(Flower.Values.self, from: JSONEncoder().encode(values))
      #expect(copy == values)
      try context.apply(values, since: original)
      try context.save()
      #expect(try context.count(From<Flower>().where(format: "tint == '000000' AND leaf == nil")) == 2)
      try context.insert(Flower.Values(name: "new", tint: .moss, weeks: 0..<1, words: [:]))
      try context.save()
    }
  }

  /// A program without the classes sees the stored values, and stores one that the transformation has no value for.
  @Test func whatStandsForNoValueIsNoted() async throws {
    try await fill()
    try await container.close()
    let records = try await PersistentContainer("Flowers", at: url("flowers"))
    try await records.performBackgroundTask { context in
      let query = DynamicQuery("Flower", where: try PredicateTree(format: "name = 'fern'"))
      let fern = try #require(try context.fetch(query).first)
      #expect(try fern.dictionary(of: ["tint", "weeks"]) == ["tint": .string("108020"), "weeks": .int(4)])
      try fern.set(["tint": .string("green?"), "leaf": .string("x"), "weeks": .int(-1)])
      try context.save()
    }
    try await records.close()
    let flowers = try await PersistentContainer("Flowers", models: Flower.self, at: url("flowers"))
    for name in ["tint", "leaf", "weeks"] {
      let error = await #expect(throws: ContextError.self) {
        try await flowers.performBackgroundTask { context in
          let fern = try #require(try context.fetchOne(From<Flower>().where { $0.name == "fern" }))
          switch name {
          case "tint": #expect(fern.tint == .black)
          case "leaf": #expect(fern.leaf == nil)
          default: #expect(fern.weeks == 0..<0)
          }
          try context.save()
        }
      }
      #expect(error?.code == .corrupt && error?.context.properties == [name])
    }
  }

  @Test func olderObjectsHaveTheDefault() async throws {
    let older = try await PersistentContainer("Herbs", models: Older.Herb.self, at: url("herbs"))
    try await older.performBackgroundTask { context in
      context.insert(Older.Herb())
      try context.save()
    }
    try await older.close()
    let newer = try await PersistentContainer("Herbs", models: Newer.Herb.self, at: url("herbs"))
    try await newer.performBackgroundTask { context in
      let herb = try #require(try context.fetchOne(From<Newer.Herb>()))
      #expect(herb.tint == .moss && herb.height == 12)
      #expect(try context.count(From<Newer.Herb>().where(format: "tint == '108020'")) == 1)
    }
  }

  @Test func aTransformationWithoutAPlaceholderIsRefused() async throws {
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer("Walls", models: Wall.self, at: url("walls"))
    }
    #expect(
      error?.description.contains(
        "'.transformed' can't make a Tint from an empty String; give it a placeholder"
      ) == true
    )
  }

  // MARK: Models

  enum Older {
    @Model final class Herb {
      var height: Int = 12
      init() {}
    }
  }

  enum Newer {
    @Model final class Herb {
      /// The attribute was an integer: stored values stay.
      @Attribute(.transformed(as: Int.self, to: { Int($0) }, from: { Double($0) })) var height: Double
      @Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Tint(hex: $0) })) var tint: Tint =
        .moss
      init() { height = 0 }
    }
  }

  @Model final class Wall {
    @Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Tint(hex: $0) })) var tint: Tint?
    init() {}
  }
}
