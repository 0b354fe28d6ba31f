import Foundation

/// Empty folders for stores, all below one that is removed at the end.
package final class ScratchFolders {
  package let root: String
  private var made = 0

  package init(root: String) throws {
    self.root = root + "/cambium-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: self.root, withIntermediateDirectories: true)
  }

  package func make() throws -> String {
    made += 1
    let folder = "\(root)/\(made)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  package func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
  package func removeAll() { remove(root) }
}
