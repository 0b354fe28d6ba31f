import Foundation

/// The contents of a folder: the bytes, the size and the time of the last write of each file. For tests that nothing is
/// written.
public struct FolderState: Equatable {
  private struct File: Equatable {
    var bytes: Data
    var size: off_t
    var writtenSeconds: Int
    var writtenNanoseconds: Int
  }

  /// By name.
  private var files: [String: File] = [:]

  public init(_ path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      let file = "\(path)/\(name)"
      var status = stat()
      guard stat(file, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
      files[name] = File(
        bytes: try Data(contentsOf: URL(fileURLWithPath: file)),
        size: status.st_size,
        writtenSeconds: status.st_mtim.tv_sec,
        writtenNanoseconds: status.st_mtim.tv_nsec
      )
    }
  }
}
