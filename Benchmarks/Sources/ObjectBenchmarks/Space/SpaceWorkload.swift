import Foundation

/// The size of a store while it grows and changes: objects inserted in saves of 50,000, then 100 saves that each change
/// 1,000 objects at random. Runs in a process of its own, so that the bytes that it writes can be counted.
enum SpaceWorkload {
  static let peers = [ObjectReport.ownName, SQLiteObjectPeer.name]
  static let saveCount = 50_000
  static let updateSaves = 100
  static let updatesPerSave = 1_000

  struct Result: Codable {
    var peer: String
    var objects: Int
    var loadSeconds = 0.0
    var updateSeconds = 0.0
    var loadedBytes = 0
    var updatedBytes = 0
    var closedBytes = 0
    /// Pages that the newest commit reaches, at the end.
    var liveBytes = 0
    /// The largest size of the file at any moment, as a multiple of the live bytes at the save after it.
    var largestRatio = 0.0
    var largestLoadRatio = 0.0
    /// Bytes that the process has handed to the system to be written.
    var writtenBytes = 0
  }

  static func run(peer: String, objects: Int, folder: String, memory: Int?) async throws -> Result {
    let before = try writtenBytes()
    var result =
      peer == ObjectReport.ownName
      ? try await CambiumSpace.run(objects: objects, folder: folder, memory: memory)
      : try SQLiteSpace.run(objects: objects, folder: folder, memory: memory)
    result.writtenBytes = try writtenBytes() - before
    return result
  }

  /// Bytes that this process has passed to calls that write. The kernel's own count (`write_bytes`) is of no use here.
  /// If a part of a large folio of the page cache is written, it counts the whole folio, although the device gets the
  /// part alone.
  private static func writtenBytes() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("wchar:") }
    return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
  }
}
