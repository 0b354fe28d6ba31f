import Foundation

/// The bytes of a file in chunks. The file is opened when the first chunk is requested.
struct FileChunks: AsyncSequence, Sendable {
  private static let byteCount = 256 << 10
  let file: URL

  func makeAsyncIterator() -> Iterator { Iterator(file: file) }

  struct Iterator: AsyncIteratorProtocol {
    let file: URL
    private var handle: FileHandle?

    init(file: URL) { self.file = file }

    mutating func next() async throws -> Data? {
      let handle = try handle ?? FileHandle(forReadingFrom: file)
      self.handle = handle
      guard let chunk = try handle.read(upToCount: FileChunks.byteCount), !chunk.isEmpty else { return nil }
      return chunk
    }
  }
}
