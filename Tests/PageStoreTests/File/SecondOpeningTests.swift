import Foundation
import TestSupport
import Testing

@testable import PageStore

/// The second opening of a store's file, through which its pages are synced.
struct SecondOpeningTests {
  /// Returns the number of this process's descriptors of a file.
  private func descriptorCount(of path: String) throws -> Int {
    let files = FileManager.default
    return try files.contentsOfDirectory(atPath: "/proc/self/fd")
      .count { (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path }
  }

  /// An opening that is made only for the sync needn't report the failure of an earlier write, if another process has
  /// been told of it.
  @Test func itStaysOpenBetweenCheckpoints() throws {
    let folder = try TemporaryFolder()
    let path = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path + "/store"
    let store = try Store.open(at: path)
    for round in 0..<3 {
      try store.put("a", "\(round)")
      try store.checkpoint()
      #expect(try descriptorCount(of: path) == 2)
    }
    try store.close()
    #expect(try descriptorCount(of: path) == 0)
  }
}
