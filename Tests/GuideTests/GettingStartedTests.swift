import Foundation
import TestSupport
import Testing

/// What Docs/GettingStarted.md has a reader do, done: the program is Examples/GettingStarted.
struct GettingStartedTests {
  private static let manifest = """
    // Quoted in Docs/GettingStarted.md
    // swift-tools-version: 6.2
    import PackageDescription

    let package = Package(
      name: "music",
      dependencies: [.package(path: "../cambium")],
      targets: [
        .executableTarget(name: "music", dependencies: [.product(name: "Cambium", package: "cambium")])
      ]
    )
    // End of quotation
    """

  private let guide: Document

  init() throws { guide = try Document("Docs/GettingStarted.md") }

  @Test func theManifestNamesTheProduct() throws {
    let folder = try TemporaryFolder()
    let lines = Self.manifest.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast()
    try lines.joined(separator: "\n").write(
      toFile: folder.file("Package.swift"),
      atomically: true,
      encoding: .utf8
    )
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift", "package", "dump-package", "--package-path", folder.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let json = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let package = try JSONDecoder().decode(Package.self, from: json)
    #expect(package.targets.map(\.dependencies) == [[.init(product: ["Cambium", "cambium", nil, nil])]])
    let own = try String(contentsOf: Document.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    #expect(own.contains(".library(name: \"Cambium\", "))
    #expect(own.contains("name: \"cambium\","))
    #expect(own.hasPrefix(String(lines.first ?? "")))
  }

  private struct Package: Decodable {
    struct Target: Decodable {
      struct Dependency: Decodable, Equatable {
        var product: [String?]
      }
      var dependencies: [Dependency]
    }
    var targets: [Target]
  }

  /// Every block of text shows a command after a `$`, and what it prints.
  @Test func theCommandsPrintWhatTheGuideShows() throws {
    let folder = try TemporaryFolder()
    let blocks = guide.blocks.filter { $0.language == "text" }
    #expect(blocks.count == 3)
    for block in blocks {
      let lines = block.text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let run =
        switch lines[0] {
        case "$ swift run music": try ToolRun("GettingStarted", arguments: [], in: folder.path)
        case let command:
          try ToolRun(arguments: Self.words(command.dropFirst("$ swift run cambium ".count)), in: folder.path)
        }
      #expect(run.status == 0, "\(lines[0]): \(run.errors)")
      #expect(run.output == lines[1], "\(lines[0])")
    }
    // A second run finds what the first one saved.
    let again = try ToolRun("GettingStarted", arguments: [], in: folder.path)
    #expect(blocks.first?.text.hasSuffix(again.output) == true)
  }

  /// The words of a command, of which some are in single quotes.
  private static func words(_ command: Substring) -> [String] {
    command.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { place, part in
      place % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
    }
  }
}
