import Foundation
import TestSupport
import Testing

/// The mistakes of Docs/Concurrency.md, which the compiler refuses with the messages that the guide shows.
@Suite(.serialized) struct ConcurrencyMistakeTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    /// Code between two marks, as it stands in the guide.
    var code: String
    var options: [String] = []

    var testDescription: String { code.components(separatedBy: "\n")[1] }
  }

  static let mistakes = [
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        func newAccount(of owner: String, in bank: PersistentContainer) async throws -> Account {
          try await bank.performBackgroundTask { context in
            let account = Account(owner: owner)
            context.insert(account)
            try context.save()
            return account
          }
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        @MainActor func raise(_ account: Account, in bank: PersistentContainer) async throws {
          try await bank.performBackgroundTask { context in
            account.balance += 10
            try context.save()
          }
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        @MainActor func countInBackground(_ bank: PersistentContainer) async throws -> Int {
          let context = bank.viewContext
          return try await Task.detached { try context.count(From<Account>()) }.value
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        func owners(in bank: PersistentContainer) throws -> [String] {
          try bank.viewContext.fetch(From<Account>()).map { $0.owner }
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        func convert(_ id: ManagedObjectID, in bank: PersistentContainer, rate: @Sendable (Int) async -> Int) async throws
        {
          try await bank.performBackgroundTask { context in
            let account = try context.existingObject(Account.self, with: id)
            account.balance = await rate(account.balance)
            try context.save()
          }
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        func total(in bank: PersistentContainer) async throws -> Int {
          var total = 0
          try await bank.performBackgroundTask { context in
            try context.forEach(From<Account>()) { total += $0.balance }
          }
          return total
        }
        // End of quotation
        """
    ),
    Mistake(
      code: """
        // Quoted in Docs/Concurrency.md
        func close(_ account: Account) { account.balance = 0 }

        func closeAll(in bank: PersistentContainer) async throws {
          try await bank.performBackgroundTask { context in
            try context.forEach(From<Account>()) { close($0) }
            try context.save()
          }
        }
        // End of quotation
        """,
      options: ["-default-isolation", "MainActor"]
    ),
  ]

  @Test(arguments: mistakes) func theCompilerSaysWhatTheGuideSays(_ mistake: Mistake) throws {
    let blocks = try Document("Docs/Concurrency.md").blocks
    let models = try #require(try Document("Docs/Contexts.md").blocks.first)
    let code =
      mistake.code.components(separatedBy: "\n").dropFirst().dropLast().joined(separator: "\n") + "\n"
    let place = try #require(blocks.firstIndex { $0.text == code }, "the guide has no such block")
    let message = blocks[place + 1]
    #expect(message.language == "text")
    let compiler = try Compilation(
      ["import Cambium\n" + models.text, "import Cambium\n" + code],
      mistake.options
    )
    #if compiler(>=6.3) && compiler(<6.4)
      #expect(compiler.errors == [message.text.trimmingCharacters(in: .newlines)])
    #else
      // Another compiler may word it otherwise.
      #expect(!compiler.errors.isEmpty)
    #endif
  }

  @Test func theModelsAloneHaveNoMistake() throws {
    let models = try #require(try Document("Docs/Contexts.md").blocks.first)
    #expect(try Compilation(["import Cambium\n" + models.text]).errors == [])
  }
}

/// What the compiler says of files that import Cambium, as this package has built it.
private struct Compilation {
  /// Each message once, without its place and the group that a newer compiler adds in brackets.
  var errors: [String] = []

  init(_ files: [String], _ options: [String] = []) throws {
    let folder = try TemporaryFolder()
    let paths = files.indices.map { folder.file("File\($0).swift") }
    for (path, file) in zip(paths, files) { try file.write(toFile: path, atomically: true, encoding: .utf8) }
    let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Mistakes that only the flow of values shows are looked for after types were checked.
    process.arguments =
      [
        "swiftc", "-emit-sil", "-o", "/dev/null", "-wmo", "-parse-as-library", "-swift-version", "6",
        "-module-name", "Mistake",
      ]
      + ["-I", products.appendingPathComponent("Modules").path]
      + [
        "-Xcc", "-fmodule-map-file=\(products.appendingPathComponent("CLinux.build/module.modulemap").path)",
      ]
      + [
        "-load-plugin-executable",
        "\(products.appendingPathComponent("CambiumMacros-tool").path)#CambiumMacros",
      ]
      + options + paths
    let output = folder.file("messages")
    try Data().write(to: URL(fileURLWithPath: output))
    process.standardError = FileHandle(forWritingAtPath: output)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    for line in lines where line.hasPrefix(folder.path) {
      guard let found = line.range(of: ": error: ") else { continue }
      let message = String(line[found.upperBound...])
        .replacingOccurrences(of: #" \[#\w+\]$"#, with: "", options: .regularExpression)
      if !errors.contains(message) { errors.append(message) }
    }
    // A failure that is no mistake in the files must not look like none.
    if errors.isEmpty, process.terminationStatus != 0 { errors = lines.map(String.init) }
  }
}
