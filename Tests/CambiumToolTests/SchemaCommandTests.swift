import Cambium
import Foundation
import TestSupport
import Testing

/// The library's models, changed.
private enum Later {
  @Model final class Author {
    #Index<Author>([\.name])
    var name: String
    var born: Int?
    @Relationship(inverse: \Book.author) var books: [Book] = []

    init(name: String) { self.name = name }
  }

  @Model final class Book {
    #Index<Book>([\.year])
    var title: String
    var year: Int16?
    var price: Double?
    var pages: Int
    var bought: Date
    @Relationship var author: Author?

    init(title: String) {
      self.title = title
      pages = 0
      bought = .now
    }
  }
}

@Suite("What cambium says of schemas")
struct SchemaCommandTests {
  @Test func aSchemaIsPrintedAsClasses() async throws {
    let library = try await Library()
    let run = try ToolRun("schema", library.path)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == """
        import Cambium

        @Model final class Author {
          @Attribute(.unique) var name: String
          var born: Int?
          @Relationship var books: [Book] = []

          init(name: String) {
            self.name = name
          }
        }

        @Model final class Book {
          #Index<Book>([\\.year])
          #Index<Book>([\\.title])

          var title: String
          var year: Int
          var price: Double?
          var isLent: Bool
          var bought: Date
          @Relationship(inverse: \\Author.books) var author: Author?

          init(title: String, year: Int, isLent: Bool, bought: Date) {
            self.title = title
            self.year = year
            self.isLent = isLent
            self.bought = bought
          }
        }

        """
    )
    #expect(try ToolRun("schema", library.path, "--swift").output == run.output)
  }

  @Test func aSchemaIsPrintedAsATable() async throws {
    let library = try await Library()
    let lines = try ToolRun("schema", library.path, "--table").lines
    #expect(lines.count == 2 + 3 + 6)
    #expect(lines[0].split(separator: " ").first == "entity")
    #expect(
      lines[2].split(separator: " ", omittingEmptySubsequences: true)
        == ["Author", "name", "string", "unique", "name"]
    )
    #expect(
      lines[10].split(separator: " ", omittingEmptySubsequences: true)
        == ["Book", "author", "toOne", "yes", "Author", "books", "nullify"]
    )
  }

  @Test func aSchemaIsPrintedAsJSON() async throws {
    let library = try await Library()
    let run = try ToolRun("schema", library.path, "--json")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    let hash = try Schema([Author.self, Book.self]).stableHash
    #expect((json["hash"] as? String).flatMap { UInt64($0.dropFirst(2), radix: 16) } == hash)
    let metadata = try StoreMetadata(at: URL(fileURLWithPath: library.path))
    #expect((json["store"] as? String).flatMap(UUID.init) == metadata.storeID)
    #expect(
      json["entityNumbers"] as? [String: UInt32] == [
        "Author": metadata.entities[0].number, "Book": metadata.entities[1].number,
      ]
    )
    #expect(
      (json["entityHashes"] as? [String: String])?.mapValues { UInt64($0.dropFirst(2), radix: 16) }["Book"]
        == metadata.entities[1].stableHash
    )
    let entities = try #require(json["entities"] as? [[String: Any]])
    let properties = try #require(entities[0]["properties"] as? [[String: Any]])
    #expect(properties.map { $0["name"] as? String } == ["name", "born", "books"])
    #expect(properties[2]["destination"] as? String == "Book")
    let document = try JSONDecoder().decode(SchemaDocument.self, from: Data(run.output.utf8))
    #expect(try document.schema() == Schema([Author.self, Book.self]))
  }

  @Test func twoSchemasAreCompared() async throws {
    let library = try await Library()
    let other = library.folder.file("other.cambium")
    let container = try await PersistentContainer(
      "Library",
      models: Later.Author.self,
      Later.Book.self,
      at: URL(fileURLWithPath: other)
    )
    try await container.close()
    #expect(try ToolRun("schema", "diff", library.path, library.path).output == "")
    let run = try ToolRun("schema", "diff", library.path, other)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == """
        changed index Author.name: unique true → false
        removed attribute Book.isLent: bool
        changed attribute Book.year: kind int64 → int16, optional false → true
        added attribute Book.pages: int64
        removed index Book: index title

        """
    )
    let json = try ToolRun("schema", "diff", library.path, other, "--json")
    let difference = try JSONDecoder().decode(SchemaDifference.self, from: Data(json.output.utf8))
    #expect(difference.description + "\n" == run.output)
  }

  @Test func wrongUseHasItsStatus() async throws {
    let library = try await Library()
    #expect(try ToolRun("schema").status == 2)
    #expect(try ToolRun("schema", library.path + "x").status == 2)
    #expect(try ToolRun("schema", library.path, "--table", "--json").status == 2)
    #expect(try ToolRun("schema", "diff", library.path).status == 2)
    #expect(try ToolRun("schema", "diff", library.path, library.path + "x").status == 2)
  }
}
