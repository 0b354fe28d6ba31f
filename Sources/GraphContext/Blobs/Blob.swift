import Foundation
import Predicates

/// The value of an attribute, to be read in parts: of `Data` its bytes, of a `String` its UTF-8.
///
/// ```swift
/// if let cover = try album.blob(\.cover) {
///   let head = try cover.read(0..<16)
///   for try await chunk in cover.chunks(of: 64 << 10) { try socket.write(chunk) }
/// }
/// ```
///
/// A blob is the value that the object had when it was asked for: later changes and saves don't change the blob. It can be sent to another task. If the value is
/// one that the store keeps outside of the object's record, the blob reads what it is asked for from the store, and holds the snapshot of its context for that:
/// the store can't reuse what only this snapshot reaches, so let go of the blob when it is no longer needed. Any other value is in the blob's memory.
public struct Blob: Sendable {
  private let contents: any BlobContents

  init(_ contents: any BlobContents) { self.contents = contents }

  /// The number of bytes. O(1).
  public var count: Int { contents.byteCount }

  /// The XXH64 of the bytes, with the seed 0: different for different values but by accident, and no protection from forgery.
  ///
  /// O(1) for a value that is outside of the object's record, of which the record has the hash; else O(bytes), which are in memory.
  public var hash: UInt64 { contents.hash }

  /// The bytes in a range, as far as the value has them: fewer at its end, and none behind it. O(bytes + log *n*), where *n* are all parts of such values.
  ///
  /// - Throws: `corrupt` where the store lacks bytes or has others; `store` when it can't be read, or was closed.
  public func read(_ range: Range<Int>) throws(ContextError) -> Data {
    let range = range.clamped(to: 0..<count)
    return range.isEmpty ? Data() : try contents.read(range)
  }

  /// The bytes in chunks of a size, of which the last one may be shorter. Each is read when it is asked for, and none is kept.
  ///
  /// - Parameter byteCount: the size, at least 1.
  public func chunks(of byteCount: Int = 64 << 10) -> Chunks {
    Chunks(blob: self, byteCount: max(1, byteCount))
  }

  /// Writes the bytes into a file, in chunks. A file that is there is replaced.
  ///
  /// - Throws: what ``read(_:)`` throws, and Foundation's error when the file can't be written. An error leaves what was written so far.
  public func write(to file: URL) throws {
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    let step = 256 << 10
    for offset in stride(from: 0, to: count, by: step) {
      try handle.write(contentsOf: read(offset..<offset + step))
    }
    try handle.close()
  }
}

extension Blob {
  /// The chunks of a blob, in order.
  public struct Chunks: AsyncSequence, Sendable {
    fileprivate let blob: Blob
    fileprivate let byteCount: Int

    /// An iterator that begins with the first chunk.
    public func makeAsyncIterator() -> Iterator { Iterator(blob: blob, byteCount: byteCount) }

    /// Reads one chunk after the other.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let blob: Blob
      fileprivate let byteCount: Int
      private var offset = 0

      fileprivate init(blob: Blob, byteCount: Int) { (self.blob, self.byteCount) = (blob, byteCount) }

      /// Reads the next chunk, on the task that asks; nil at the end.
      ///
      /// - Throws: what ``Blob/read(_:)`` throws.
      public mutating func next() async throws(ContextError) -> Data? { try nextChunk() }

      /// Reads the next chunk, on the actor that asks; nil at the end.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ContextError) -> Data? { try nextChunk() }

      private mutating func nextChunk() throws(ContextError) -> Data? {
        guard offset < blob.count else { return nil }
        let end = blob.count - offset > byteCount ? offset + byteCount : blob.count
        defer { offset = end }
        return try blob.read(offset..<end)
      }
    }
  }
}
