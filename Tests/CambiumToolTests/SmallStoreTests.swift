import Cambium
import Foundation
import TestSupport
import Testing

/// The file Tests/SmallStore/small.cambium is for programs that read stores without this library. It was made once,
/// and stays as long as the version of the format does. `dump.txt` beside it has its contents.
@Suite("The small store of the file format's description")
struct SmallStoreTests {
  private let folder: TemporaryFolder
  private var copy: String { folder.file("small.cambium") }
  private let dump: String

  init() throws {
    folder = try TemporaryFolder()
    dump = try SmallStoreDump.text()
    try SmallStoreDump.copyStore(to: folder)
  }

  @Test func theToolReadsWhatTheDumpSays() throws {
    #expect(try SmallStoreDump.make(of: copy) == dump)
  }

  @Test func theLibraryReadsWhatTheDumpSays() async throws {
    let url = URL(fileURLWithPath: copy)
    let container = try await PersistentContainer("Small", models: SmallStore.models, at: .file(url))
    let text = try await container.performBackgroundTask { try SmallStoreDump.rows(in: $0) }
    #expect(dump.hasSuffix(SmallStoreDump.shortened(text)))
    #expect(text.count > 70_000)
    try SmallStoreDump.expectSound(container)
    try await container.close()
    #expect(try SmallStoreDump.make(of: copy) == dump)
  }

  /// So the dump is not only of a file that nobody can make any more. `CAMBIUM_SMALL_STORE=FOLDER` keeps the file and its dump:
  /// for a new version of the format.
  @Test func aStoreMadeTodayHasTheSameDump() async throws {
    let made = folder.file("made.cambium")
    try await SmallStore.make(at: made)
    let text = try SmallStoreDump.make(of: made)
    if let target = ProcessInfo.processInfo.environment["CAMBIUM_SMALL_STORE"] {
      let target = URL(fileURLWithPath: target)
      try Data(contentsOf: URL(fileURLWithPath: made)).write(
        to: target.appendingPathComponent("small.cambium")
      )
      try text.write(to: target.appendingPathComponent("dump.txt"), atomically: true, encoding: .utf8)
    }
    #expect(text == dump)
  }

  /// The file has to show all parts of the format. Without a log to replay, an overflow or a branch, it would show fewer.
  @Test func theFileHasAllThatItIsToShow() throws {
    let log = try ToolRun("log", copy, "--operations").output
    for kind in ["transaction", "checkpoint", "link", "create tree", "drop tree", "remove range", "remove "] {
      #expect(log.contains(kind), "\(kind)")
    }
    #expect(try ToolRun("tree", copy, "e/Sample").output.contains("overflow pages"))
    #expect(try ToolRun("tree", copy, "i/Sample/text").output.contains("overflow pages"))
    let file = try Data(contentsOf: URL(fileURLWithPath: copy))
    let branches = stride(from: 0, to: file.count, by: 4_096).filter { start in
      // Its own number, of which the higher bytes are 0; and the kind of a branch.
      file[start + 8] == UInt8(truncatingIfNeeded: start / 4_096) && file[start + 28] == 2
    }
    #expect(!branches.isEmpty)
  }
}
