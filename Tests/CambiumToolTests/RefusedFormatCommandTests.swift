import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

/// The tool and a store whose tree `schema` has a format that the library doesn't read.
struct RefusedFormatCommandTests {
  @Test(arguments: [["info"], ["schema"], ["verify"], ["query", "Book"]])
  func theToolNamesTheFormatsAndWritesNothing(_ command: [String]) async throws {
    let library = try await Library()
    let store = try Store.open(at: library.path)
    try await store.write { transaction in
      _ = try transaction.tree(SchemaTree.name).put(SchemaTree.formatKey, SchemaTree.bytes(UInt32(2)))
    }
    try await store.close()
    let before = try FolderState(library.folder.path)
    let run = try ToolRun(arguments: [command[0], library.path] + command.dropFirst())
    #expect(run.status == 1)
    #expect(run.output.isEmpty, "\(run.output)")
    let message =
      "the store was written by an earlier library: its format is 2, this one reads formats 3 to 10"
    #expect(run.errors.contains(message), "\(run.errors)")
    #expect(try FolderState(library.folder.path) == before)
  }
}
