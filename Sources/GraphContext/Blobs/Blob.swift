import Foundation
import Predicates

/// The value of an attribute, which can be read in parts: the bytes of `Data`, or the UTF-8 of a `String`.
///
/// ```swift
/// if let cover = try album.blob(\.cover) {
///   let head = try cover.read(0..<16)
///   for try await chunk in cover.chunks(of: 64 << 10) { try socket.write(chunk) }
/// }
/// ```
///
/// A blob is the value that the object had when the blob was made: later changes and saves don't change the blob.
/// It can be sent to another task. If the store keeps the value outside of the object's record, the blob reads the
/// requested bytes from the store, and holds the snapshot of its context for that. The store can't reuse pages that
/// only this snapshot reaches, so release the blob when it is no longer needed. Any other value is in the blob's
/// memory.
public struct Blob: Sendable {
  private let contents: any BlobContents

  init(_ contents: any BlobContents) { self.contents = contents }

  /// The number of bytes. O(1).
  public var count: Int { contents.byteCount }

  /// The XXH64 of the bytes, with the seed 0: different values have different hashes except by accident. It is no
  /// protection from forgery.
  ///
  /// O(1) for a value outside of the object's record, because the record has its hash; else O(bytes), which are in
  /// memory.
  public var hash: UInt64 { contents.hash }

  /// Returns the bytes in a range, as far as the value has them: fewer at its end, and none behind it. O(bytes +
  /// log *n*), where *n* is the number of all parts of such values.
  ///
  /// - Throws: `corrupt` if the store lacks bytes or has different ones; `store` when it can't be read, or was
  ///   closed.
  public func read(_ range: Range<Int>) throws(ContextError) -> Data {
    let range = range.clamped(to: 0..<count)
    return range.isEmpty ? Data() : try contents.read(range)
  }

  /// Returns the bytes in chunks of a size; the last chunk may be shorter. Each chunk is read when it is requested,
  /// and none is kept.
  ///
  /// - Parameter byteCount: the size, at least 1.
  public func chunks(of byteCount: Int = 64 << 10) -> Chunks {
    Chunks(blob: self, byteCount: max(1, byteCount))
  }

  /// Writes the bytes into a file, in chunks. An existing file is replaced.
  ///
  /// - Throws: what ``read(_:)`` throws, and Foundation's error when the file can't be written. After an error the
  ///   file has the bytes that were written so far.
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

    /// Returns an iterator that begins with the first chunk.
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
