import Cambium
import Foundation
import TestSupport
import Testing

/// Attributes whose values their types encode.
struct CodedAttributeTests {
  struct Opening: CodableAttribute, Hashable {
    enum Kind: String, Codable { case open, byAppointment }
    var kind: Kind
    var days: [Int] = []
    var notes: [String: String] = [:]
    var from: Date
    var share: Double?
  }

  enum Payment: CodableAttribute, Hashable {
    case cash
    case card(fee: Double)
    case voucher([String])
    static var tracerValue: Payment? { .cash }
  }

  @Model final class Shop {
    @Attribute(.unique) var name: String
    var opening: Opening
    var payment: Payment?
    var page: URL?
    var json: JSONText?
    init(name: String, opening: Opening) {
      self.name = name
      self.opening = opening
    }
  }

  let folder: TemporaryFolder
  let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    container = try await PersistentContainer(
      "Shops",
      models: Shop.self,
      at: URL(fileURLWithPath: folder.file("shops.cambium"))
    )
  }

  private static let opening = Opening(
    kind: .byAppointment,
    days: [1, 2, 6],
    notes: ["de": "auf Klingeln", "": "\u{1F511}/\\\""],
    from: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
    share: .infinity
  )

  /// Two shops, the second without optional values.
  private func fill() async throws {
    try await container.performBackgroundTask { context in
      let shop = Shop(name: "A", opening: Self.opening)
      shop.payment = .voucher(["x", "y"])
      shop.page = URL(string: "https://example.org/a%20b?q=1#f")
      shop.json = JSONText(#"{"a": [1, null]}"#)
      context.insert(shop)
      context.insert(Shop(name: "B", opening: Opening(kind: .open, from: .distantPast)))
      try context.save()
    }
  }

  @Test func valuesComeBackAsTheyWere() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let shops = try context.fetch(From<Shop>().orderBy(.ascending(\.name)))
      #expect(shops[0].opening == Self.opening)
      #expect(shops[0].payment == .voucher(["x", "y"]))
      #expect(shops[0].page?.absoluteString == "https://example.org/a%20b?q=1#f")
      #expect(shops[0].json == JSONText(#"{"a": [1, null]}"#))
      #expect(shops[1].opening == Opening(kind: .open, from: .distantPast))
      #expect(shops[1].payment == nil && shops[1].page == nil && shops[1].json == nil)
    }
    #expect(try await container.verify().isEmpty)
  }

  @Test func aChangeIsSavedAndComparesWithOthers() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let shop = try #require(try context.fetch(From<Shop>().where { $0.name == "A" }).first)
      shop.opening = Self.opening
      try context.save()
      shop.opening.days.append(7)
      #expect(shop.changedValues.keys.sorted() == ["opening"])
      try context.save()
      context.refresh(shop, mergeChanges: false)
      #expect(shop.opening.days == [1, 2, 6, 7])
      shop.payment = .card(fee: 0.5)
      context.rollback()
      #expect(shop.payment == .voucher(["x", "y"]))
    }
  }

  @Test func aQueryAsksForNilAndSelects() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      #expect(try context.fetch(From<Shop>().where { $0.payment == nil }).map(\.name) == ["B"])
      #expect(try context.fetch(From<Shop>().where { $0.payment != nil }).map(\.name) == ["A"])
      #expect(try context.count(From<Shop>().where(format: "payment = nil AND opening != nil")) == 1)
      let rows = try context.fetch(From<Shop>().where { $0.name == "A" }.select(\.opening, \.payment))
      #expect(rows.map(\.0) == [Self.opening])
      #expect(rows.map(\.1) == [.voucher(["x", "y"])])
    }
  }

  @Test func nothingElseComparesThem() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      func code(_ body: () throws -> Void) -> QueryError.Code? {
        do { try body() } catch { return (error as? ContextError)?.queryError?.code }
        return nil
      }
      let shops = From<Shop>()
      #expect(code { _ = try context.fetch(shops.where { $0.opening == Self.opening }) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.where(format: "opening = payment")) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.where(format: "opening CONTAINS 'a'")) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.where(format: "opening < '{}'")) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.where(format: "opening IN {'{}'}")) } == .typeMismatch)
      let choice = "TERNARY(name = 'A', opening, payment) = nil"
      #expect(code { _ = try context.fetch(shops.where(format: choice)) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.orderBy(.ascending(\.opening))) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.select(\.payment).distinct()) } == .typeMismatch)
      #expect(code { _ = try context.fetch(shops.groupBy(\.payment).aggregate(.count)) } == .typeMismatch)
      #expect(
        code { _ = try context.fetch(shops.groupBy(\.name).aggregate(.max(\.payment))) } == .typeMismatch
      )
    }
  }

  @Test func aURLIsComparedAsItsText() async throws {
    try await fill()
    try await container.performBackgroundTask { context in
      let page = try #require(URL(string: "a%20b?q=1#f", relativeTo: URL(string: "https://example.org/")))
      #expect(try context.fetch(From<Shop>().where { $0.page == page }).map(\.name) == ["A"])
      #expect(try context.count(From<Shop>().where(format: "page BEGINSWITH %@", "https://example.org")) == 1)
      #expect(try context.fetch(From<Shop>().orderBy(.ascending(\.page))).map(\.name) == ["B", "A"])
    }
  }

  @Test func aValueThatCannotBeEncodedIsRefused() async throws {
    let crates = try await PersistentContainer(
      "Crates",
      models: Crate.self,
      at: URL(fileURLWithPath: folder.file("crates.cambium"))
    )
    try await crates.performBackgroundTask { context in
      let crate = Crate()
      context.insert(crate)
      crate.content = Fragile(isBroken: true)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .wrongValue && error?.context.properties == ["content"])
      #expect(error?.message == "Crate.content is given a value that can't be encoded")
      crate.content = Fragile(isBroken: false)
      try context.save()
    }
  }

  /// One version of a program stores a value. Another version, whose type requires another property, reads it.
  @Test func aValueThatCannotBeDecodedIsNoted() async throws {
    let url = URL(fileURLWithPath: folder.file("notes.cambium"))
    let older = try await PersistentContainer("Notes", models: Older.Note.self, at: url)
    try await older.performBackgroundTask { context in
      context.insert(Older.Note(.init(a: 1)))
      try context.save()
    }
    try await older.close()
    let newer = try await PersistentContainer("Notes", models: Newer.Note.self, at: url)
    let error = await #expect(throws: ContextError.self) {
      try await newer.performBackgroundTask { context in
        let note = try #require(try context.fetch(From<Newer.Note>()).first)
        #expect(note.extra == nil && note.content == .init(a: 0, b: ""))
      }
    }
    #expect(error?.code == .corrupt && error?.description.contains("Note.") == true)
  }

  @Test func aTypeWithoutAPlaceholderIsRefused() async throws {
    let error = await #expect(throws: ContextError.self) {
      try await PersistentContainer(
        "Boxes",
        models: Box.self,
        at: URL(fileURLWithPath: folder.file("boxes.cambium"))
      )
    }
    #expect(error?.description.contains("tracerValue") == true)
  }

  @Test func noIndexIsOfOne() {
    let error = #expect(throws: SchemaError.self) { _ = try Schema([Indexed.self]) }
    #expect(
      error?.problems == [
        "an index of Indexed has payment, which is an encoded value: such values aren't compared"
      ]
    )
  }

  @Test func aToolReadsAndSetsTheJSON() async throws {
    try await fill()
    try await container.close()
    let records = try await PersistentContainer(
      "Shops",
      at: URL(fileURLWithPath: folder.file("shops.cambium"))
    )
    try await records.performBackgroundTask { context in
      let query = DynamicQuery("Shop", where: try PredicateTree(format: "name = 'A'"))
      let shop = try #require(try context.fetch(query).first)
      let json = try shop["payment"]
      #expect(json == .string(#"{"voucher":{"_0":["x","y"]}}"#))
      #expect(throws: (any Error).self) { try shop.set("payment", to: "{") }
      try shop.set("payment", to: #"{"card":{"fee":2}}"#)
      try context.save()
    }
    try await records.close()
    let shops = try await PersistentContainer(
      "Shops",
      models: Shop.self,
      at: URL(fileURLWithPath: folder.file("shops.cambium"))
    )
    try await shops.performBackgroundTask { context in
      let shop = try context.fetch(From<Shop>().where { $0.name == "A" }).first
      #expect(shop?.payment == .card(fee: 2))
    }
  }

  // MARK: Models

  struct Fragile: CodableAttribute {
    struct Broken: Error {}
    var isBroken: Bool
    func encode(to encoder: any Encoder) throws {
      if isBroken { throw Broken() }
      var container = encoder.singleValueContainer()
      try container.encode(isBroken)
    }
    init(isBroken: Bool) { self.isBroken = isBroken }
    init(from decoder: any Decoder) throws {
      isBroken = try decoder.singleValueContainer().decode(Bool.self)
    }
  }

  @Model final class Crate {
    var content: Fragile?
    init() {}
  }

  enum Older {
    struct Content: CodableAttribute { var a: Int }
    @Model final class Note {
      var content: Content
      var extra: Content?
      init(_ content: Content) {
        self.content = content
        extra = content
      }
    }
  }

  enum Newer {
    struct Content: CodableAttribute, Hashable {
      var a: Int
      var b: String
    }
    @Model final class Note {
      var content: Content
      var extra: Content?
      init(_ content: Content) { self.content = content }
    }
  }

  /// A type that contains itself, so a decoder can't make a sample value of it.
  struct Shape: CodableAttribute {
    enum Kind: String, Codable { case round }
    let name: String
    init(from decoder: any Decoder) throws {
      name = try decoder.singleValueContainer().decode(String.self)
      if name.isEmpty {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no name"))
      }
    }
  }

  @Model final class Box {
    var shape: Shape?
    init() {}
  }

  @Model final class Indexed {
    #Index<Indexed>([\.payment])
    var payment: Payment?
    init() {}
  }
}
