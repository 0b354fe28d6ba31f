import Cambium
import Foundation
import TestSupport
import Testing

// Quoted in Docs/Models.md
final class Film: StoredObject {
  @Stored var title: String = ""
  @Stored(.unique) var code: String?
  @Stored(.min(1), .max(600)) var minutes: Int = 90
  @Stored(.perInsert { UUID() }) var token: UUID
  @Stored(.externalStorage) var poster: Data?
  @Stored(originalName: "made") var released: Date?
  @ToOneLink(inverse: \Director.films) var director: Director?
  @ToManyLink(.ordered, deleteRule: .cascade, minimumCount: 1) var scenes: OrderedToMany<Scene>
  @Derived("scenes.@count") var sceneCount: Int
  var isSelected = false

  override class var indexes: [StoredIndex] {
    [.index(\Film.director, \Film.minutes), .unique(\Film.title, \Film.released, folding: .case)]
  }

  convenience init(title: String) {
    self.init()
    self.title = title
  }

  override func validateForInsert() throws {
    if title.isEmpty { throw ValidationError("it has no title", properties: ["title"]) }
  }
}

final class Director: StoredObject {
  @Stored var name: String
  @ToManyLink(deleteRule: .deny) var films: [Film]
}

final class Scene: StoredObject {
  @Stored var text: String = ""
  @RequiredLink(.ordered, inverse: \Film.scenes) var film: Film
}
// End of quotation

struct WrappedModelsGuideTests {
  @Test func aFilmIsAModelLikeAnyOther() async throws {
    let films = try await PersistentContainer(
      "Films",
      models: Film.self,
      Director.self,
      Scene.self,
      at: .inMemory
    )
    try await films.performBackgroundTask { context in
      let film = Film(title: "Playtime")
      let director = Director()
      director.name = "Tati"
      film.director = director
      context.insert(film)
      film.scenes.append(Scene())
      try context.save()
      #expect(director.films == [film] && film.sceneCount == 1)
      #expect(try context.count(From<Film>().where { $0.director.name == "Tati" && $0.minutes >= 90 }) == 1)
    }
    #expect(try await films.verify().isEmpty)
  }

  @Test func entitiesAreDescribedWhileAProgramRuns() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("films.cambium"))
    // Quoted in Docs/Models.md
    let review = EntityDescription(
      name: "Review",
      properties: [
        .attribute("text", String.self, rules: [.length(1...500)]),
        .attribute("stars", Int.self, default: 3),
        .attribute("written", Date.self, perInsert: { .now }),
        .requiredToOne("film", to: "Film"),
        .toMany("tags", to: "Tag", inverse: "reviews"),
      ],
      indexes: [IndexDescription(["film", "stars"])]
    )
    let tag = EntityDescription(
      name: "Tag",
      properties: [.attribute("word", String.self), .toMany("reviews", to: "Review")],
      indexes: [IndexDescription(["word"], isUnique: true)]
    )
    let films = try await PersistentContainer(
      "Films",
      models: Film.self,
      Director.self,
      Scene.self,
      entities: [review, tag],
      at: url
    )
    try await films.performBackgroundTask { context in
      let film = Film(title: "Playtime")
      context.insert(film)
      film.scenes.append(Scene())
      let review = try context.insert(entity: "Review")
      try review.set(["text": .string("Every frame is full."), "stars": .int(5)])
      try review.setObject("film", to: film)
      try review.add(context.findOrInsert(entity: "Tag", with: ["word": .string("comedy")]), to: "tags")
      try context.save()
      print(try review.value(forKeyPath: "film.title"), try review.dictionary(of: ["stars", "written"]))
      print(try review.object("film", as: Film.self)?.minutes ?? 0)
      let liked = try PredicateTree(format: "stars > 3 AND ANY tags.word == 'comedy'")
      for review in try context.fetch(DynamicQuery("Review", where: liked)) { print(try review["text"]) }
      let short = DynamicQuery("Film", where: try PredicateTree(format: "minutes < 100"))
      for film in try context.fetch(short, as: Film.self) { print(film.title) }
    }
    // End of quotation
    try await films.performBackgroundTask { context in
      let review = try #require(try context.fetch(DynamicQuery("Review")).first)
      let film = try #require(try review.object("film", as: Film.self))
      let title = try review.value(forKeyPath: "film.title")
      #expect(title == .string("Playtime") && film.minutes == 90)
    }
    #expect(try await films.verify().isEmpty)
    try await films.close()
  }

  @Test func aClassLeadsToRecords() async throws {
    let note = EntityDescription(
      name: "Note",
      properties: [.attribute("text", String.self), .toOne("cinema", to: "Cinema", inverse: "notes")]
    )
    let cinemas = try await PersistentContainer(
      "Cinemas",
      models: Cinema.self,
      entities: [note],
      at: .inMemory
    )
    try await cinemas.performBackgroundTask { context in
      let cinema = Cinema(name: "Rex")
      context.insert(cinema)
      let note = try context.insert(entity: "Note")
      try note.set("text", to: "closed on Mondays")
      cinema.notes.append(note)
      try context.save()
      #expect(try note.object("cinema", as: Cinema.self) === cinema)
    }
  }
}

// Quoted in Docs/Models.md
@Model final class Cinema {
  var name: String
  @Relationship(to: "Note", deleteRule: .cascade, inverse: "cinema") var notes: [ManagedRecord] = []

  init(name: String) { self.name = name }
}
// End of quotation
