import Foundation

/// A folder of its own for a test, removed with everything in it when the last reference is released.
public final class TemporaryFolder: Sendable {
  /// The folder's absolute path.
  public let path: String

  /// Makes the folder in `parent`, or where the system keeps temporary files.
  public init(in parent: String? = nil) throws {
    let parent = parent.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
    let folder = parent.appendingPathComponent("cambium-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  /// The path of `name` in the folder.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  // A folder that can't be removed is left to the system's own cleaning.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
