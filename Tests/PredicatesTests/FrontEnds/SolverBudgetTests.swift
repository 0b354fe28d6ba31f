import Foundation
import TestSupport
import Testing

/// Long conditions type-check within a fixed number of solver scopes: a count that, unlike time, is the same
/// everywhere.
@Suite(.serialized) struct SolverBudgetTests {
  /// About ten times the number of scopes that the conditions below take. With operators as free functions, they take
  /// millions.
  private static let scopes = 10_000

  private static let closureTerms = [
    "$0.month == 1", "$0.day > 3", "$0.depTime == nil", "$0.delay >= 120", "$0.origin.name == \"x\"",
    "$0.title.hasPrefix(\"y\")", "[1, 2].contains($0.month)", "(1...3).contains($0.distance)",
    "$0.dest.faa != \"IAH\"",
  ]
  private static let boolTerms = [
    "$0.isLate", "$0.day > 3", "!$0.isFull", "$0.delay >= 120", "$0.origin.isOpen", "$0.isLate == nil",
    "[1, 2].contains($0.month)",
  ]
  private static let keyPathTerms = [
    "\\.month == 1", "\\.day > 3", "\\.depTime == nil", "\\.delay >= 120", "\\.origin?.name == \"x\"",
    "\\.title != \"y\"", "[1, 2] ~= \\.month", "1...3 ~= \\.distance", "\\.dest?.faa != \"IAH\"",
  ]

  private static func condition(_ terms: [String], count: Int) -> String {
    (0..<count).map { terms[$0 % terms.count] }.joined(separator: " || ")
  }

  @Test func nineAndTwentyTermsStayWithinTheBudget() throws {
    let compiler = try TypeChecker()
    let source = """
      let a = Where<Flight> { \(Self.condition(Self.closureTerms, count: 9)) }
      let b = Where<Flight> { \(Self.condition(Self.closureTerms, count: 20)) }
      let e = Where<Flight> { \(Self.condition(Self.boolTerms, count: 20)) }
      let c: Where<Flight> = \(Self.condition(Self.keyPathTerms, count: 9))
      let d: Where<Flight> = \(Self.condition(Self.keyPathTerms, count: 20))
      """
    let accepted = try compiler.check(source, scopes: Self.scopes)
    #expect(accepted.isEmpty, "\(accepted)")
    // The compiler obeys the limit: the same text doesn't type-check within a hundredth of it.
    let refused = try compiler.check(source, scopes: Self.scopes / 100)
    #expect(refused.contains("unable to type-check this expression"))
  }

  @Test func mistakesDoNotCompile() throws {
    let mistakes = [
      "$0.month == \"x\"", "$0.title > 5", "$0.blob < $0.blob", "$0.origin < $0.dest",
      "$0.month.hasPrefix(\"x\")",
      "$0.nothing == 1", "$0.month", "[\"x\"].contains($0.month)",
    ]
    let lines = (mistakes + ["$0.month == 1"]).map { "_ = Where<Flight> { \($0) }" }
    let complaints = try TypeChecker().check(lines.joined(separator: "\n"), scopes: nil)
    for (index, line) in lines.enumerated() {
      let isRefused = complaints.contains("main.swift:\(index + TypeChecker.firstLine):")
      #expect(isRefused == (index < mistakes.count), "\(line)\n\(complaints)")
    }
  }
}

/// Type-checks snippets against Predicates, by the compiler that is on the path.
private struct TypeChecker: Sendable {
  /// The line of a snippet's first line in the file that is compiled.
  static let firstLine = 3

  private let folder: TemporaryFolder
  private let testFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
  private let common = [
    "-swift-version", "6", "-package-name", "cambium", "-enable-upcoming-feature", "ExistentialAny",
    "-enable-upcoming-feature", "MemberImportVisibility",
  ]

  /// Where the module is that these tests were built with.
  private let modules = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "Modules").path

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  /// Returns the compiler's messages about the text, which is compiled with the test's model; empty if there are none.
  func check(_ text: String, scopes: Int?) throws -> String {
    try ("import Foundation\nimport Predicates\n" + text)
      .write(toFile: path("main.swift"), atomically: true, encoding: .utf8)
    let model = try String(
      contentsOf: testFolder.appending(path: "Support/FlightModel.swift"),
      encoding: .utf8
    )
    try model.write(toFile: path("FlightModel.swift"), atomically: true, encoding: .utf8)
    let budget = scopes.map { ["-Xfrontend", "-solver-scope-threshold=\($0)"] } ?? []
    return try run(
      ["-typecheck", "-I", modules] + budget + [path("main.swift"), path("FlightModel.swift")]
    )
  }

  private func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swiftc"] + common + arguments
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
