import Cambium
import Foundation
import TestSupport

@Model
final class Author {
  #Unique<Author>([\.name])

  var name: String
  var born: Int?
  @Relationship(deleteRule: .nullify, inverse: \Book.author) var books: [Book] = []

  init(name: String, born: Int?) {
    self.name = name
    self.born = born
  }
}

@Model
final class Book {
  #Index<Book>([\.year], [\.title])

  var title: String
  var year: Int
  var price: Double?
  var isLent: Bool
  var bought: Date
  @Relationship var author: Author?

  init(title: String, year: Int, price: Double?, isLent: Bool, author: Author?) {
    self.title = title
    self.year = year
    self.price = price
    self.isLent = isLent
    bought = Date(timeIntervalSince1970: Double(year))
    self.author = author
  }
}

/// A store in a folder of its own, closed, for the tool to look into.
struct Library {
  let folder: TemporaryFolder
  var path: String { folder.file("library.cambium") }

  /// Two hundred books of the years 1801 to 2000, a tenth of them by Mary, the others without an author; and three that
  /// are hard to print.
  init() async throws {
    folder = try TemporaryFolder()
    let container = try await Self.open(path)
    try await container.performBackgroundTask { context in
      let mary = Author(name: "Mary Shelley", born: 1797)
      context.insert(mary)
      context.insert(Author(name: "Anonymous", born: nil))
      for number in 1...200 {
        context.insert(
          Book(
            title: "Volume \(number)",
            year: 1800 + number,
            price: number % 4 == 0 ? nil : Double(number) / 4,
            isLent: number % 2 == 0,
            author: number % 10 == 0 ? mary : nil
          )
        )
      }
      context.insert(Book(title: "Say \"cheese\"", year: 2100, price: nil, isLent: false, author: nil))
      context.insert(Book(title: "Two\nlines", year: 2101, price: 1.5, isLent: false, author: nil))
      context.insert(Book(title: "Ünïcode 🎈", year: 2102, price: -0.25, isLent: false, author: nil))
      try context.save()
    }
    try await container.close()
  }

  static func open(_ path: String) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Library",
      models: Author.self,
      Book.self,
      at: URL(fileURLWithPath: path)
    )
  }
}
