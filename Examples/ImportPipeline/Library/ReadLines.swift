import Cambium
import CambiumOperations

/// Reads a JSON Lines file. Fails at a line that can't be decoded, with the number of the line.
final class ReadLines: ResultOperation<[ReadingRecord]>, @unchecked Sendable {
  /// A line that is no reading.
  struct Mistake: Error, CustomStringConvertible {
    let line: Int
    var description: String { "line \(line) is no reading" }
  }

  // Safety: the URL never changes.
  private let url: URL

  init(_ url: URL) {
    self.url = url
    super.init()
  }

  override func execute() {
    finish(with: Result { try records() })
  }

  private func records() throws -> [ReadingRecord] {
    // Empty lines are counted, too, so that the numbers are those of the file. Other line separators than these may
    // stand in a string.
    let lines = try String(contentsOf: url, encoding: .utf8)
      .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    let decoder = JSONDecoder()
    var records: [ReadingRecord] = []
    for (index, line) in lines.enumerated() where !isCancelled && !line.isEmpty {
      guard let record = try? decoder.decode(ReadingRecord.self, from: Data(line.utf8)) else {
        throw Mistake(line: index + 1)
      }
      records.append(record)
      progress.completedUnitCount = Int64(100 * (index + 1) / lines.count)
    }
    return records
  }
}
