import BenchmarkHarness
import Cambium
import Foundation

/// The cost of opening a store by a schema with two attributes more, and one wider.
struct LayoutOpening: Codable {
  var objects: Int
  var fileBytes: Int
  /// The times of openings by the schema that the store has.
  var plainSeconds: [Double]
  /// The times of openings that change the schema, each of another store.
  var seconds: [Double]
  /// The most bytes that any opening that changes the schema hands to the system to be written.
  var writtenBytes: Int

  static func measure(objects: Int, in folders: ScratchFolders, rounds: Int) async throws -> LayoutOpening {
    let filled = try folders.make()
    defer { folders.remove(filled) }
    try await LayoutWorkloads.fillEarlier(filled, objects)
    var opening = LayoutOpening(
      objects: objects,
      fileBytes: try StoredBytes(of: filled).allocated,
      plainSeconds: [],
      seconds: [],
      writtenBytes: 0
    )
    for _ in 0..<rounds { try await opening.measureOnce(filled, folders) }
    return opening
  }

  private mutating func measureOnce(_ filled: String, _ folders: ScratchFolders) async throws {
    plainSeconds.append(try await Self.open(Earlier.Sample.self, filled).seconds)
    let copy = try folders.make()
    defer { folders.remove(copy) }
    for file in try FileManager.default.contentsOfDirectory(atPath: filled) {
      try FileManager.default.copyItem(atPath: "\(filled)/\(file)", toPath: "\(copy)/\(file)")
    }
    let opened = try await Self.open(Newer.Sample.self, copy)
    seconds.append(opened.seconds)
    writtenBytes = max(writtenBytes, opened.writtenBytes)
  }

  /// Measures the time until the store is open. Closing is not counted.
  private static func open<Model: LayoutModel>(
    _ model: Model.Type,
    _ folder: String
  ) async throws -> (seconds: Double, writtenBytes: Int) {
    let clock = ContinuousClock()
    let (start, written) = (clock.now, ProcessOutput.byteCount ?? 0)
    let store = try await LayoutStore<Model>(folder: folder)
    let opened = (
      seconds: (clock.now - start) / .seconds(1), writtenBytes: (ProcessOutput.byteCount ?? 0) - written
    )
    try await store.container.close()
    return opened
  }
}
