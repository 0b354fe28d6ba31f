import CZlib
import Foundation

/// The identity of a file's bytes: its length and its CRC-32.
struct FileFingerprint: Equatable, CustomStringConvertible {
  let byteCount: Int
  private let checksum: UInt

  init(_ path: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    byteCount = data.count
    checksum = data.withUnsafeBytes { bytes in
      UInt(crc32_z(0, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
    }
  }

  var description: String {
    "\(Terminal.number(byteCount)) bytes, CRC-32 \(String(format: "%08lx", checksum))"
  }

  /// - Throws: `DataError` if the file has other bytes by now.
  func checkUnchanged(_ path: String) throws {
    guard try FileFingerprint(path) == self else { throw DataError(path: path, message: "has changed") }
  }
}
