import Foundation
import TestSupport
import Testing

@Suite("cambium query --group-by")
struct GroupingCommandTests {
  @Test func groupsHaveTheirKeysAndTheirAggregates() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "year > 1900",
      "--group-by",
      "isLent",
      "--aggregate",
      "count",
      "--aggregate",
      "min(year) as first",
      "--sort",
      "isLent:desc",
      "--output",
      "csv"
    )
    #expect(run.errors.isEmpty)
    #expect(run.output.hasPrefix("isLent,count,first\r\ntrue,"))
    #expect(run.output.hasSuffix("1901\r\n") || run.output.hasSuffix("1902\r\n"))
    #expect(run.output.split(separator: "\r\n").count == 3)
  }

  @Test func aggregatesAloneMakeOneRow() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "--aggregate",
      "count",
      "--aggregate",
      "max(year)",
      "--output",
      "jsonl"
    )
    #expect(run.output == "{\"count\": 203, \"max(year)\": 2102}\n")
  }

  @Test func oneOptionTakesSeveralAggregates() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "--aggregate",
      "count,max(year), min(year) as first",
      "--aggregate",
      "median(year)",
      "--output",
      "csv"
    )
    #expect(
      run.output.hasPrefix("count,max(year),first,median(year)\r\n203,2102,"),
      "\(run.output)\(run.errors)"
    )
    let grouped = try ToolRun("query", library.path, "Book", "--group-by", "isLent, year", "--count")
    #expect(Int(grouped.output.dropLast()) ?? 0 > 100, "\(grouped.errors)")
  }

  @Test func havingIsAboutGroups() async throws {
    let library = try await Library()
    let all = try ToolRun(
      "query",
      library.path,
      "Book",
      "--group-by",
      "author.name",
      "--aggregate",
      "count",
      "--count"
    )
    let some = try ToolRun(
      "query",
      library.path,
      "Book",
      "--group-by",
      "author.name",
      "--aggregate",
      "count",
      "--having",
      "`author.name` != nil",
      "--count"
    )
    #expect(Int(all.output.dropLast()) ?? 0 == (Int(some.output.dropLast()) ?? 0) + 1)
    let wrong = try ToolRun("query", library.path, "Book", "--having", "count > 1")
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("needs --group-by"))
  }

  @Test func equalRowsAreShownOnce() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "--select",
      "isLent",
      "--distinct",
      "--output",
      "csv"
    )
    #expect(Set(run.output.split(separator: "\r\n")) == ["isLent", "true", "false"])
  }

  @Test func csvQuotesWhatItMust() async throws {
    let library = try await Library()
    let run = try ToolRun(
      "query",
      library.path,
      "Book",
      "year > 2100",
      "--sort",
      "year",
      "--select",
      "title,author.name",
      "--output",
      "csv"
    )
    #expect(run.output.contains("\"Two\nlines\",\r\n"))
    #expect(run.output.contains("Ünïcode 🎈,\r\n"))
  }

  @Test func analyzeRunsTheQuery() async throws {
    let library = try await Library()
    let plan = try ToolRun("query", library.path, "Book", "year > 1900", "--explain")
    let run = try ToolRun("query", library.path, "Book", "year > 1900", "--explain=analyze")
    #expect(!plan.output.contains("measured"))
    #expect(run.output.contains("measured: rows read"))
    #expect(run.output.contains("matched 103"))
  }

  @Test func aPredicateComesFromAFile() async throws {
    let library = try await Library()
    let file = library.path + ".predicate"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try "year > 1900\n  AND isLent == YES\n".write(toFile: file, atomically: true, encoding: .utf8)
    let run = try ToolRun("query", library.path, "Book", "--predicate-file", file, "--count")
    let same = try ToolRun("query", library.path, "Book", "year > 1900 AND isLent == YES", "--count")
    #expect(run.output == same.output)
    #expect(run.status == 0)
    let both = try ToolRun("query", library.path, "Book", "year > 1", "--predicate-file", file)
    #expect(both.status == 2)
    let missing = try ToolRun("query", library.path, "Book", "--predicate-file", file + ".not")
    #expect(missing.status == 2)
    #expect(missing.errors.contains("can't be read"))
  }

  @Test(arguments: [
    (["--group-by", "author.nam"], "Did you mean “name”?"),
    (["--aggregate", "mean(year)"], "no aggregate such as"),
    (["--aggregate", "sum(title)"], "takes numbers"), (["--aggregate", "count,"], "“” is no aggregate"),
    (["year IN 5"], "The number 5 is no list, no range and no string"),
    (["year == %d"], "none was passed"),
    (["--group-by", "isLent", "--select", "year"], "can't select columns"),
    (["--output", "xml"], "output"), (["--output", "csv", "--json"], "exclude each other"),
    (["--explain=slowly"], "explain"),
  ])
  func mistakesAreSaidInAWord(_ arguments: [String], _ part: String) async throws {
    let library = try await Library()
    let run = try ToolRun(arguments: ["query", library.path, "Book"] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains(part), "\(run.errors)")
  }
}
