import Cambium
import Foundation
import TestSupport
import Testing

@Suite("What cambium migrate leaves among temporary files")
struct RehearsalFolderTests {
  private let library: Library
  private let temporary: TemporaryFolder
  private let versions: [String]

  init() async throws {
    library = try await Library()
    temporary = try TemporaryFolder()
    var document = SchemaDocument(try StoreMetadata(at: URL(fileURLWithPath: library.path)).schema)
    var versions: [String] = []
    for number in [2, 3] as [UInt32] {
      var pages = document.entities[1].properties[0]
      pages.name = "pages\(number)"
      pages.defaultValue = .int(100)
      pages.kind = "int32"
      document.entities[1].properties.append(pages)
      document.version = Schema.Version(number)
      let path = library.folder.file("v\(number).json")
      try JSONEncoder().encode(document).write(to: URL(fileURLWithPath: path))
      versions.append(path)
    }
    self.versions = versions
  }

  private func rehearse() throws {
    let run = try ToolRun(
      arguments: ["migrate", library.path, "--dry-run"] + versions.flatMap { ["--to", $0] },
      environment: ["TMPDIR": temporary.path]
    )
    #expect(run.status == 0, "\(run.errors)")
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted() }
  }

  /// Makes what a run has while it works, or leaves if it is killed.
  private func leaveFolder() throws -> (folder: String, lock: String) {
    let folder = temporary.file("cambium-dry-run-1")
    try FileManager.default.createDirectory(atPath: folder + "/copy", withIntermediateDirectories: true)
    try Data([1]).write(to: URL(fileURLWithPath: folder + "/copy/copy.cambium"))
    try Data().write(to: URL(fileURLWithPath: folder + ".lock"))
    return (folder, folder + ".lock")
  }

  @Test func aRunLeavesNothing() throws {
    try rehearse()
    #expect(try names == [])
  }

  @Test func theFolderOfAKilledRunIsRemovedByTheNextOne() throws {
    _ = try leaveFolder()
    try rehearse()
    #expect(try names == [])
  }

  @Test func theFolderOfARunThatWorksIsKept() throws {
    let (folder, lock) = try leaveFolder()
    let handle = try #require(FileHandle(forUpdatingAtPath: lock))
    #expect(flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
    try rehearse()
    #expect(FileManager.default.fileExists(atPath: folder + "/copy/copy.cambium"))
    #expect(try names.count == 2)
    try handle.close()
    try rehearse()
    #expect(try names == [])
  }
}
