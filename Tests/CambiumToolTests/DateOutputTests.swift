import Cambium
import Foundation
import TestSupport
import Testing

@Suite("Dates in the tool")
struct DateOutputTests {
  /// The calendar of a predicate is Gregorian throughout; Foundation's is Julian before the 15th of October 1582.
  @Test(arguments: [
    (-63_113_904_000, "0001-01-01T00:00:00Z"), (-15_804_979_200, "1500-03-01T00:00:00Z"),
    (-13_197_686_400, "1582-10-14T00:00:00Z"), (-13_197_600_000, "1582-10-15T00:00:00Z"),
    (252_423_993_599, "9999-12-31T23:59:59Z"), (0.123, "2001-01-01T00:00:00.123Z"),
    (800_000_000.123, "2026-05-09T06:13:20.123Z"), (800_000_000.9996, "2026-05-09T06:13:21Z"),
    (-0.001, "2000-12-31T23:59:59.999Z"), (-1.5, "2000-12-31T23:59:58.500Z"),
    (0.0004, "2001-01-01T00:00:00Z"), (-249_999_999_999, "-249999999999.0"), (1e300, "1e+300"),
  ])
  func aDateIsPrintedAsAPredicateReadsIt(_ seconds: Double, _ text: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("library.cambium")
    let container = try await Library.open(path)
    try await container.performBackgroundTask { context in
      let book = Book(title: "Old", year: 1, price: nil, isLent: false, author: nil)
      book.bought = Date(timeIntervalSinceReferenceDate: seconds)
      context.insert(book)
      try context.save()
    }
    try await container.close()
    #expect(
      try ToolRun("query", path, "Book", "--select", "bought", "--output", "csv").output.contains(
        "\r\n\(text)\r\n"
      )
    )
    // A predicate finds the very instant; the text is rounded.
    guard text.hasSuffix("Z"), seconds == seconds.rounded() else { return }
    #expect(try ToolRun("query", path, "Book", "bought == '\(text)'", "--count").output == "1\n")
  }
}
