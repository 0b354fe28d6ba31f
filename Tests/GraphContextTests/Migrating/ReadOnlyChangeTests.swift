import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

private enum Before {
  @Model final class Book {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

private enum After {
  @Model final class Book {
    @Attribute(originalName: "title") var name: String
    var pages: Int = 100
    init(_ name: String) { self.name = name }
  }
}

/// A store that is open for reading only is read by models that differ, and stays as it is.
@Suite struct ReadOnlyChangeTests {
  @Test func aChangeThatNeedsNoWorkIsReadAndNotWritten() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("books.cambium"))
    let before = try await PersistentContainer("Books", models: Before.Book.self, at: url)
    try await before.performBackgroundTask { context in
      context.insert(Before.Book("Emma"))
      try context.save()
    }
    try before.close()
    let bytes = try Data(contentsOf: url)
    var options = StoreOptions()
    options.isReadOnly = true
    let after = try await PersistentContainer("Books", models: After.Book.self, at: url, options: options)
    try await after.performBackgroundTask { context in
      let book = try #require(try context.fetchOne(From<After.Book>().where(\.name == "Emma")))
      #expect(book.pages == 100)
      #expect(try context.count(From<After.Book>().where(\.pages == 100)) == 1)
    }
    #expect(try after.verify().map(\.description) == [])
    try after.close()
    #expect(try Data(contentsOf: url) == bytes)
    let again = try await PersistentContainer("Books", models: Before.Book.self, at: url)
    #expect(
      try await again.performBackgroundTask { try $0.fetch(From<Before.Book>()).map(\.title) } == ["Emma"]
    )
    try again.close()
  }
}
