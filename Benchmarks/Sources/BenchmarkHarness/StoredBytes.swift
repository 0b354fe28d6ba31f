import Foundation

/// The bytes that the files of a folder take.
package struct StoredBytes: Codable, Sendable {
  /// The blocks that the file system has given them.
  package var allocated = 0
  /// The sizes that they show.
  package var apparent = 0

  /// Counts the files right inside `folder`.
  package init(of folder: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      var status = stat()
      guard stat("\(folder)/\(file)", &status) == 0 else { continue }
      allocated += Int(status.st_blocks) * 512
      apparent += Int(status.st_size)
    }
  }
}
