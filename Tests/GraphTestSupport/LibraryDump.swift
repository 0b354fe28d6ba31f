import Cambium

@testable import GraphContext

/// Every object of a library with its values and links.
/// Every object of a library with its values and links.
package struct LibraryDump: Equatable {
  private var lines: [String] = []

  package init(_ context: ManagedObjectContext) throws {
    func numbers<Object: ManagedObject>(_ objects: some Sequence<Object>) -> [ObjectNumber] {
      objects.map(\.objectID.number).sorted()
    }
    for writer in try context.fetch(From<Writer>()) {
      let links = (numbers(writer.books.map { $0 }), numbers(writer.fans), writer.desk?.number ?? -1)
      lines.append("\(writer.objectID.number) \(writer.name) \(writer.email ?? "") \(writer.rank) \(links)")
    }
    for book in try context.fetch(From<Book>()) {
      let links = (book.writer?.objectID.number ?? .none, book.publisher.objectID.number)
      lines.append("\(book.objectID.number) \(book.title) \(book.pages) \(book.shelf ?? "") \(links)")
    }
    for reader in try context.fetch(From<Reader>()) {
      let favourite = reader.favourite?.objectID.number ?? .none
      lines.append("\(reader.objectID.number) \(reader.name) \(numbers(reader.idols)) \(favourite)")
    }
    for publisher in try context.fetch(From<Publisher>()) {
      lines.append("\(publisher.objectID.number) \(publisher.name) \(numbers(publisher.books))")
    }
    for desk in try context.fetch(From<Desk>()) {
      lines.append("\(desk.objectID.number) \(desk.number) \(desk.writer?.objectID.number ?? .none)")
    }
  }
}
