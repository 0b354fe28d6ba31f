import Cambium
import Foundation
import PageStore

@testable import GraphContext

// A library: every kind of relationship and every delete rule.

@Model final class Writer {
  #Index<Writer>([\.rank])
  #Unique<Writer>([\.email])
  var name: String
  var email: String?
  var rank: Int
  /// One to one.
  @Relationship(inverse: \Desk.writer) var desk: Desk?
  @Relationship(deleteRule: .cascade, inverse: \Book.writer) var books: ToMany<Book> = []
  /// Many to many.
  @Relationship(inverse: \Reader.idols) var fans: [Reader] = []

  init(_ name: String, email: String? = nil, rank: Int = 0) {
    self.name = name
    self.email = email
    self.rank = rank
  }
}

@Model final class Book {
  #Index<Book>([\.title], [\.pages, \.title], [\.writer])
  #Unique<Book>([\.shelf, \.place])
  var title: String
  var pages: Int
  var shelf: String?
  var place: Int?
  var cover: Data?
  @Relationship var writer: Writer?
  /// Required.
  @Relationship var publisher: Publisher

  init(_ title: String, pages: Int = 100, publisher: Publisher) {
    self.title = title
    self.pages = pages
    self.publisher = publisher
  }
}

@Model final class Publisher {
  var name: String
  @Relationship(deleteRule: .deny, inverse: \Book.publisher) var books: [Book] = []

  init(_ name: String) { self.name = name }
}

@Model final class Desk {
  var number: Int
  @Relationship var writer: Writer?

  init(_ number: Int) { self.number = number }
}

@Model final class Reader {
  var name: String
  @Relationship var idols: Set<Writer> = []
  /// Leads one way only.
  @Relationship var favourite: Book?

  init(_ name: String) { self.name = name }
}

enum Library {
  static let models: [any ManagedObject.Type] = [
    Writer.self, Book.self, Publisher.self, Desk.self, Reader.self,
  ]

  /// A library in memory, or in a file.
  static func open(at path: String? = nil) async throws -> PersistentContainer {
    var options = StoreOptions()
    if path == nil { options.durability = .none }
    let location = path.map { StoreLocation.file(URL(fileURLWithPath: $0)) } ?? .inMemory
    return try await PersistentContainer("Library", models: models, at: location, options: options)
  }
}

extension PersistentContainer {
  /// A context of the test's own, at the newest commit.
  func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator: coordinator) }

  /// Leases the first numbers of all entities: the next insertions don't need the writer's turn.
  func leaseNumbers() throws {
    _ = try engine.takeNumber(of: coordinator.schema.entities[0], timeout: nil)
  }
}
