import Foundation

/// The files that reports are written to.
package enum ReportFile {
  /// The document as JSON that reads well and changes little from one run to the next.
  package static func json(_ document: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return try encoder.encode(document)
  }

  /// Writes the file, if there is a path for it, and makes the folder that it is in.
  package static func write(_ data: @autoclosure () throws -> Data, to path: String?) throws {
    guard let path else { return }
    let file = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try data().write(to: file)
  }
}
