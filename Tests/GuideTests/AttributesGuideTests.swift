import Cambium
import Foundation
import Testing

// Quoted in Docs/Models.md
struct Opening: CodableAttribute, Hashable {
  var days: Set<Int>
  var note: String?
}

@Model final class Shop {
  @Attribute(.perInsert { UUID() }) var token: UUID
  var name: String
  var page: URL?
  var opening: Opening?
  @Transient var isSelected = false

  init(name: String) { self.name = name }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Post {
  #Index<Post>([\.tags, \.written])
  var text: String
  var written: Date = .now
  var tags: [String] = []
  var stars: Set<Int> = []

  init(_ text: String, tags: [String]) {
    self.text = text
    self.tags = tags
  }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Magazine {
  var title: String
  @Attribute(.externalStorage) var cover: Data?
  @Attribute(.externalStorage) var notes: String = ""

  init(title: String) { self.title = title }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Lecture {
  #Index<Lecture>([\.length])
  var title: String
  @Attribute(.transformed(as: Double.self, to: { $0 / .seconds(1) }, from: { Duration.seconds($0) }), .min(0))
  var length: Duration
  @Attribute(.transformed(as: String.self, to: { $0.identifier }, from: { Locale(identifier: $0) }))
  var language: Locale?

  init(title: String, length: Duration) {
    self.title = title
    self.length = length
  }
}
// End of quotation

struct AttributesGuideTests {
  @Test func lecturesAreFoundByWhatIsStored() async throws {
    let lectures = try await PersistentContainer("Lectures", models: Lecture.self, at: .inMemory)
    try await lectures.write { context in
      for minutes in [45, 61, 90] {
        let lecture = Lecture(title: "\(minutes)", length: .seconds(minutes * 60))
        lecture.language = minutes == 90 ? Locale(identifier: "pt_PT") : nil
        context.insert(lecture)
      }
    }
    try await lectures.query { context in
      // Quoted in Docs/Models.md
      let long = From<Lecture>().where { $0.length.stored(as: Double.self) > 3600 }.orderBy(.stored(\.length))
      let portuguese = From<Lecture>().where(format: "language BEGINSWITH %@", "pt")
      // End of quotation
      #expect(try context.fetch(long).map(\.length) == [.seconds(3660), .seconds(5400)])
      let found = try context.fetch(portuguese)
      #expect(found.map(\.title) == ["90"] && found.first?.language == Locale(identifier: "pt_PT"))
    }
  }

  @Test func postsAreFoundByTheirTags() async throws {
    let posts = try await PersistentContainer("Posts", models: Post.self, at: .inMemory)
    try await posts.performBackgroundTask { context in
      for number in 0..<30 {
        let post = Post("\(number)", tags: number % 2 == 0 ? ["swift", "linux"] : ["swallows"])
        post.written = Date(timeIntervalSinceReferenceDate: Double(number))
        post.stars = [number % 6]
        context.insert(post)
      }
      // Quoted in Docs/Models.md
      let swift = From<Post>().where { $0.tags.contains("swift") }
      let latest = try context.fetch(swift.orderBy(.descending(\.written)).limit(20))
      let liked = try context.fetch(From<Post>().where { $0.stars.any { $0 >= 4 } && $0.tags.count < 3 })
      let asText = try context.count(From<Post>().where(format: "ANY tags BEGINSWITH[c] %@", "sw"))
      // End of quotation
      #expect(latest.map(\.text) == (0..<15).map { "\(28 - 2 * $0)" })
      #expect(liked.count == 10)
      #expect(asText == 30)
      try context.save()
      let plan = try context.explain(swift.orderBy(.descending(\.written)).limit(5)).description
      #expect(plan.contains("index tags,written"), "\(plan)")
    }
  }

  @Test func aCoverIsSentInSteps() async throws {
    let magazines = try await PersistentContainer("Magazines", models: Magazine.self, at: .inMemory)
    let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    try await magazines.performBackgroundTask { context in
      let magazine = Magazine(title: "Cycling")
      magazine.cover = bytes
      context.insert(magazine)
      try context.save()
    }
    var sent: [Data] = []
    func send(_ chunk: Data) async throws { sent.append(chunk) }
    // Quoted in Docs/Models.md
    let cover = try await magazines.performBackgroundTask { context in
      try context.fetch(From<Magazine>().where { $0.title == "Cycling" }).first?.blob(\.cover)
    }
    if let cover {
      print(cover.count, cover.hash, try cover.read(0..<4))
      for try await chunk in cover.chunks(of: 64 << 10) { try await send(chunk) }
    }
    // End of quotation
    #expect(sent.map(\.count) == [65_536, 65_536, 65_536, 3_392])
    #expect(sent.reduce(Data(), +) == bytes)
  }

  @Test func aShopIsStored() async throws {
    let shops = try await PersistentContainer("Shops", models: Shop.self, at: .inMemory)
    let opening = Opening(days: [1, 2], note: nil)
    let token = try await shops.performBackgroundTask { context in
      let shop = Shop(name: "Bakery")
      shop.page = URL(string: "https://example.org/bakery")
      shop.opening = opening
      shop.isSelected = true
      context.insert(shop)
      try context.save()
      return shop.token
    }
    try await shops.performBackgroundTask { context in
      let open = try context.fetch(From<Shop>().where { $0.opening != nil })
      #expect(open.map(\.token) == [token])
      #expect(open.map(\.opening) == [opening])
      #expect(open.map(\.page?.host) == ["example.org"])
      #expect(!open[0].isSelected)
    }
  }
}
