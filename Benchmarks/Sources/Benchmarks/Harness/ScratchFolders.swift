import Foundation

/// Empty folders for stores, all below one that is removed at the end.
final class ScratchFolders {
  let root: String
  private var made = 0

  init(root: String) throws {
    self.root = root + "/cambium-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: self.root, withIntermediateDirectories: true)
  }

  func make() throws -> String {
    made += 1
    let folder = "\(root)/\(made)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
  func removeAll() { remove(root) }

  /// Bytes of all files in the folder, as they are allocated.
  func allocatedBytes(_ folder: String) -> Int {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.reduce(0) { total, file in
      var status = stat()
      return stat("\(folder)/\(file)", &status) == 0 ? total + Int(status.st_blocks) * 512 : total
    }
  }
}
