import Glibc
import Synchronization

/// A file without a name in the store's folder, for dead pages that no checkpoint has written and that a
/// snapshot still reaches. It is used when these pages take more memory than their limit.
///
/// Nothing in the store's file refers to it, and it ends with the process. Its pages have numbers that no
/// page of a store's file has, so that they are found, cached and verified like all others. A number is used
/// once.
///
/// It consists of parts, each of which is written in one call. A part is closed when none of its pages is
/// needed any more.
final class SpillFile: Sendable {
  /// The lowest number of a spilled page. The pages of the store's file have lower numbers.
  static let firstNumber: UInt64 = PageTable.count - PageTable.count / 16

  private struct Part {
    /// Closed with its last reference: a thread may be reading from it when the part is removed.
    var file: any RandomAccessFile
    var numbers: Range<UInt64>
    var neededCount: UInt64
  }

  private struct State {
    var nextNumber = SpillFile.firstNumber
    /// The parts, in order of their numbers.
    var parts: [Part] = []
  }

  private let pageSize: Int
  private let state = Mutex(State())
  private let makeFile: @Sendable () throws(StoreError) -> any RandomAccessFile

  /// - Parameter makeFile: makes an empty file for a part.
  init(pageSize: Int, makeFile: @escaping @Sendable () throws(StoreError) -> any RandomAccessFile) {
    self.pageSize = pageSize
    self.makeFile = makeFile
  }

  /// Writes a part. `body` gets the number of the part's first page, and a closure that takes the pages.
  /// Without pages there is no part, and no file.
  func writePart(
    _ body: (_ firstNumber: UInt64, (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) ->
      Void
  ) throws(StoreError) {
    var made: (any RandomAccessFile)?
    let first = state.withLock { $0.nextNumber }
    var byteCount: UInt64 = 0
    try body(first) { (image) throws(StoreError) in
      let end = first + (byteCount + UInt64(image.count)) / UInt64(pageSize)
      guard end <= PageTable.count else {
        throw StoreError(.diskFull, "the numbers for spilled pages are used up")
      }
      let file = if let made { made } else { try makeFile() }
      made = file
      guard file.write(image, at: byteCount) == image.count else {
        throw StoreError(.diskFull, "a spilled page could not be written")
      }
      byteCount += UInt64(image.count)
    }
    guard let file = made else { return }
    let count = byteCount / UInt64(pageSize)
    state.withLock { state in
      state.nextNumber = first + count
      state.parts.append(Part(file: file, numbers: first..<(first + count), neededCount: count))
    }
  }

  /// Fills `buffer` with the bytes of pages of one part.
  func read(from number: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
    let part = state.withLock { state in Self.index(of: number, in: state).map { state.parts[$0] } }
    guard let part else {
      throw StoreError(.corrupt, "a reference leads to a page in no file", context: .init(page: number))
    }
    let offset = (number - part.numbers.lowerBound) * UInt64(pageSize)
    guard part.file.read(into: buffer, at: offset) == buffer.count else {
      throw StoreError(.inputOutput, "a spilled page could not be read", context: .init(page: number))
    }
  }

  /// Notes that pages are no longer needed.
  func release(_ number: UInt64, count: UInt64) {
    state.withLock { state in
      guard let index = Self.index(of: number, in: state) else { return }
      state.parts[index].neededCount -= min(count, state.parts[index].neededCount)
      if state.parts[index].neededCount == 0 { state.parts.remove(at: index) }
    }
  }

  /// Bytes in all parts.
  var byteCount: UInt64 {
    state.withLock { $0.parts.reduce(0) { $0 + UInt64($1.numbers.count) } } * UInt64(pageSize)
  }

  private static func index(of number: UInt64, in state: State) -> Int? {
    state.parts.lastIndex { $0.numbers.lowerBound <= number }
      .flatMap { state.parts[$0].numbers.contains(number) ? $0 : nil }
  }
}
