import Foundation
import Predicates

/// The bytes of a value that is read in parts.
protocol BlobContents: Sendable {
  var byteCount: Int { get }
  /// The XXH64 of the bytes, with the seed 0.
  var hash: UInt64 { get }

  /// Returns the bytes in a range, which the value has.
  ///
  /// - Throws: `corrupt` if the store lacks bytes or has different ones; `store` when it can't be read.
  func read(_ range: Range<Int>) throws(ContextError) -> Data
}

/// Bytes in memory.
struct LoadedBlob: BlobContents {
  let bytes: Data

  var byteCount: Int { bytes.count }
  var hash: UInt64 { bytes.withUnsafeBytes { BlobHash.hash($0) } }

  func read(_ range: Range<Int>) -> Data {
    bytes.subdata(in: bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound)
  }
}
