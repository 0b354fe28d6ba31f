import Cambium
import Foundation
import TestSupport
import Testing

/// Quotes in the tool's CSV.
struct CombiningQuoteTests {
  /// A quote with a combining mark is one character, and another one than a quote.
  @Test func aQuoteBeforeACombiningMarkIsDoubled() async throws {
    let library = try await Library()
    let container = try await Library.open(library.path)
    try await container.performBackgroundTask { context in
      context.insert(Book(title: "a\"\u{301}b", year: 2200, price: nil, isLent: false, author: nil))
      try context.save()
    }
    try await container.close()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "year == 2200",
      "--select",
      "title",
      "--output",
      "csv"
    )
    let expected = "title\r\n\"a\"\"\u{301}b\"\r\n"
    #expect(Array(run.output.utf8) == Array(expected.utf8), "\(run.output)")
  }
}
