import Cambium
import Foundation
import PageStore

@testable import GraphContext

// A library: every kind of relationship and every delete rule.

@Model package final class Writer {
  #Index<Writer>([\.rank])
  #Unique<Writer>([\.email])
  package var name: String
  package var email: String?
  package var rank: Int
  /// One to one.
  @Relationship(inverse: \Desk.writer) package var desk: Desk?
  @Relationship(deleteRule: .cascade, inverse: \Book.writer) package var books: ToMany<Book> = []
  /// Many to many.
  @Relationship(inverse: \Reader.idols) package var fans: [Reader] = []

  package init(_ name: String, email: String? = nil, rank: Int = 0) {
    self.name = name
    self.email = email
    self.rank = rank
  }
}

@Model package final class Book {
  #Index<Book>([\.title], [\.pages, \.title], [\.writer])
  #Unique<Book>([\.shelf, \.place])
  package var title: String
  package var pages: Int
  package var shelf: String?
  package var place: Int?
  package var cover: Data?
  @Relationship package var writer: Writer?
  /// Required.
  @Relationship package var publisher: Publisher

  package init(_ title: String, pages: Int = 100, publisher: Publisher) {
    self.title = title
    self.pages = pages
    self.publisher = publisher
  }
}

@Model package final class Publisher {
  package var name: String
  @Relationship(deleteRule: .deny, inverse: \Book.publisher) package var books: [Book] = []

  package init(_ name: String) { self.name = name }
}

@Model package final class Desk {
  package var number: Int
  @Relationship package var writer: Writer?

  package init(_ number: Int) { self.number = number }
}

@Model package final class Reader {
  package var name: String
  @Relationship package var idols: Set<Writer> = []
  /// Leads one way only.
  @Relationship package var favourite: Book?

  package init(_ name: String) { self.name = name }
}

package enum Library {
  package static let models: [any ManagedObject.Type] = [
    Writer.self, Book.self, Publisher.self, Desk.self, Reader.self,
  ]

  /// A library in memory, or in a file.
  package static func open(at path: String? = nil) async throws -> PersistentContainer {
    var options = StoreOptions()
    if path == nil { options.durability = .none }
    let location = path.map { StoreLocation.file(URL(fileURLWithPath: $0)) } ?? .inMemory
    return try await PersistentContainer("Library", models: models, at: location, options: options)
  }
}

extension PersistentContainer {
  /// A context of the test's own, at the newest commit.
  package func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator: coordinator) }

  /// Leases the first numbers of all entities: the next insertions don't need the writer's turn.
  package func leaseNumbers() throws {
    _ = try engine.takeNumber(of: coordinator.schema.entities[0], timeout: nil)
  }
}
