import CZlib
import Foundation

/// Reads a gzipped file, or one that isn't compressed, from front to back.
final class GzipFile {
  let path: String
  private let handle: gzFile

  init(path: String) throws {
    guard let handle = gzopen(path, "rb") else {
      throw DataError(path: path, message: "cannot be opened: \(String(cString: strerror(errno)))")
    }
    self.path = path
    self.handle = handle
    gzbuffer(handle, 128 << 10)
  }

  deinit { gzclose_r(handle) }

  /// Fills `buffer` from its start; the count of bytes read is 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = gzread(handle, buffer.baseAddress, UInt32(clamping: buffer.count))
    guard count >= 0, !endsEarly(after: count) else {
      throw DataError(path: path, message: "is not a whole gzip file: \(errorMessage)")
    }
    return Int(count)
  }

  /// Bytes of the file, as it lies on disk, that have been read so far.
  var compressedOffset: Int { Int(gzoffset(handle)) }

  /// zlib returns the available data of a truncated file, and reports the missing end by the error state alone.
  private func endsEarly(after count: Int32) -> Bool {
    guard count == 0 else { return false }
    var code: Int32 = 0
    _ = gzerror(handle, &code)
    return code == Z_BUF_ERROR
  }

  private var errorMessage: String {
    var code: Int32 = 0
    return gzerror(handle, &code).map { String(cString: $0) } ?? "zlib error \(code)"
  }
}

/// The error of an input file, and its position.
struct DataError: Error, CustomStringConvertible {
  var path: String
  /// Counted from 1; nil where the whole file is meant.
  var line: Int?
  var column: String?
  var message: String

  var description: String {
    var place = path
    if let line { place += ":\(line)" }
    if let column { place += " (\(column))" }
    return "\(place): \(message)"
  }
}
