import Cambium
import Foundation
import TestSupport
import Testing

// Quoted in Docs/SchemaChanges.md
/// The first version. Its classes are gone: a store knows its own schema.
enum LibraryV1: VersionedSchema {
  static let version = Schema.Version(1)
}

/// Authors are entities of their own.
enum LibraryV2: VersionedSchema {
  static let version = Schema.Version(2)
  static var models: [any ManagedObject.Type] { [Book.self, Author.self] }

  @Model final class Book {
    var title: String
    @Relationship var author: Author?

    init(title: String) { self.title = title }
  }

  @Model final class Author {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \Book.author) var books: ToMany<Book> = []

    init(name: String) { self.name = name }
  }
}
// End of quotation

/// What the first version of the app had: here to make a store of its time.
private enum FirstApp {
  enum Library: VersionedSchema {
    static let version = Schema.Version(1)
    static var models: [any ManagedObject.Type] { [Book.self] }
  }

  @Model final class Book {
    var title: String
    var author: String
    init(_ title: String, _ author: String) {
      self.title = title
      self.author = author
    }
  }
}

// Quoted in Docs/SchemaChanges.md
let libraryPlan = MigrationPlan(
  [LibraryV1.self, LibraryV2.self],
  stages: [
    .custom(
      from: LibraryV1.self,
      to: LibraryV2.self,
      .forEach("Book") { batch in
        for book in batch.objects {
          let name: String = try book.value("author") ?? "unknown"
          let author = try batch.new.findOrInsert(entity: "Author", with: ["name": .string(name)])
          try batch.successor(of: book)?.setObject("author", to: author)
        }
      }
    )
  ]
)
// End of quotation

struct MigrationGuideTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() async throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("library.cambium"))
    let plan = MigrationPlan([FirstApp.Library.self])
    let library = try await PersistentContainer("Library", plan: plan, at: url)
    try await library.performBackgroundTask { context in
      for (title, author) in [("Emma", "Austen"), ("Persuasion", "Austen"), ("Villette", "Brontë")] {
        context.insert(FirstApp.Book(title, author))
      }
      try context.save()
    }
    try await library.close()
  }

  @Test func theGuidesPlanSplitsBooksAndAuthors() async throws {
    // Quoted in Docs/SchemaChanges.md
    for stage in try libraryPlan.forecasts(at: url) { print(stage) }
    // End of quotation
    // Quoted in Docs/SchemaChanges.md
    let monitor = MigrationMonitor()
    let progress = Task {
      for await update in monitor.updates() {
        print("stage \(update.stageNumber) of \(update.stageCount): \(update.fractionCompleted)")
      }
    }
    let library = try await PersistentContainer("Library", plan: libraryPlan, at: url, monitor: monitor)
    // End of quotation
    await progress.value
    let authors = try await library.performBackgroundTask { context in
      try context.fetch(From<LibraryV2.Author>().orderBy(\.name)).map { "\($0.name) \($0.books.count)" }
    }
    #expect(authors == ["Austen 2", "Brontë 1"])
    try await library.close()
  }
}
