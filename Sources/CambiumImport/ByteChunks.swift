import Cambium

/// The bytes of a file or a stream, a chunk at a time.
package struct ByteChunks: Sendable {
  /// Begins to read. The closure that it returns gives the next bytes, of any length; nil at the end.
  package let open: @Sendable () throws -> () throws -> Data?
  package let isRepeatable: Bool

  private static let chunkByteCount = 256 << 10

  /// - Throws: by its reader, ``ImportError/Code/file``.
  package static func file(at url: URL) -> ByteChunks {
    let open: @Sendable () throws -> () throws -> Data? = {
      do {
        let file = try FileHandle(forReadingFrom: url)
        return {
          do {
            let data = try file.read(upToCount: chunkByteCount)
            return data.flatMap { $0.isEmpty ? nil : $0 }
          } catch {
            throw ImportError(.file, "\(url.path) can't be read", underlyingError: error)
          }
        }
      } catch {
        throw ImportError(.file, "\(url.path) can't be opened", underlyingError: error)
      }
    }
    return ByteChunks(open: open, isRepeatable: true)
  }

  package static func stream(_ next: @escaping @Sendable () throws -> Data?) -> ByteChunks {
    ByteChunks(open: { { try next() } }, isRepeatable: false)
  }
}

/// Finds where records begin and end in bytes that come in chunks.
package protocol RecordSplitter<Record>: Sendable {
  /// The form in which a reader hands out a record, such as its bytes or its fields.
  associatedtype Record

  /// Looks for the end of the next record.
  ///
  /// - Parameters:
  ///   - bytes: the bytes read so far, from the start of the current record.
  ///   - position: the position at which the search begins; receives the position at which the next search
  ///     begins.
  ///   - isAtEnd: whether no more bytes follow.
  /// - Returns: the record; nil if more bytes are needed, or none follows at the end.
  /// - Throws: ``ImportError``, without the number of the record.
  mutating func next(
    in bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    isAtEnd: Bool
  ) throws -> Range<Int>?

  /// The position at which the current record begins; nil between records.
  var start: Int? { get set }

  /// Makes what a reader gets of the record that ``next(in:_:isAtEnd:)`` has found last.
  ///
  /// - Throws: ``ImportError``, without the number of the record.
  mutating func record(of bytes: UnsafeRawBufferPointer) throws -> Record
}

extension RecordSplitter where Record == Data {
  package func record(of bytes: UnsafeRawBufferPointer) -> Data { Data(bytes) }
}

/// Hands out records, from chunks of any length. Memory holds a record and a chunk.
package struct SplitReader<Splitter: RecordSplitter> {
  private let chunks: () throws -> Data?
  private var splitter: Splitter
  private let recordByteLimit: Int
  /// The count of records at the start that are not imported.
  private let headerCount: Int
  private var buffer: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  private var hasBegun = false
  /// The error that the reader has thrown: what follows a wrong record isn't read.
  private var failure: (any Error)?
  /// The count of records that were handed out, those at the start included.
  private var handedOutCount = 0
  /// The count of records that were handed out, without those at the start.
  package var recordCount: Int { max(0, handedOutCount - headerCount) }

  /// - Parameters:
  ///   - chunks: returns the next bytes; nil at the end.
  ///   - splitter: finds the records.
  ///   - recordByteLimit: the length beyond which a record is refused instead of being read into memory.
  ///   - headerCount: how many records at the start have no number.
  package init(
    _ chunks: @escaping () throws -> Data?,
    _ splitter: Splitter,
    recordByteLimit: Int,
    headerCount: Int = 0
  ) {
    self.chunks = chunks
    self.splitter = splitter
    self.recordByteLimit = recordByteLimit
    self.headerCount = headerCount
  }

  /// The next record; nil after the last.
  ///
  /// - Throws: ``ImportError/Code/recordTooLong``; what the splitter and the chunks throw. Throws it again at each
  ///   later call.
  package mutating func next() throws -> Splitter.Record? {
    if let failure { throw failure }
    do {
      return try nextRecord()
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func nextRecord() throws -> Splitter.Record? {
    while true {
      if let found = try split() {
        handedOutCount += 1
        return found
      }
      if isAtEnd { return nil }
      if let start = splitter.start, buffer.count - start > recordByteLimit { throw tooLong }
      try readOn()
    }
  }

  private mutating func split() throws -> Splitter.Record? {
    do {
      return try buffer.withUnsafeBytes { bytes -> Splitter.Record? in
        guard let range = try splitter.next(in: bytes, &position, isAtEnd: isAtEnd) else { return nil }
        if range.count > recordByteLimit { throw tooLong }
        return try splitter.record(of: UnsafeRawBufferPointer(rebasing: bytes[range]))
      }
    } catch let error as ImportError where error.code != .notAnArray {
      throw error.of(record: recordNumber)
    }
  }

  /// The number of the current record, from 1; nil for one of those at the start.
  private var recordNumber: Int? { handedOutCount < headerCount ? nil : recordCount + 1 }

  private var tooLong: ImportError {
    ImportError(.recordTooLong, "it is longer than \(recordByteLimit) bytes", record: recordNumber)
  }

  private mutating func readOn() throws {
    let kept = splitter.start ?? position
    buffer.removeSubrange(..<kept)
    position -= kept
    if splitter.start != nil { splitter.start = 0 }
    guard let chunk = try chunks() else {
      isAtEnd = true
      return
    }
    buffer.append(contentsOf: chunk)
    if hasBegun { return }
    // The mark of the byte order is three bytes, which may come one by one.
    while buffer.count < 3, !isAtEnd {
      if let chunk = try chunks() { buffer.append(contentsOf: chunk) } else { isAtEnd = true }
    }
    hasBegun = true
    if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { buffer.removeFirst(3) }
  }
}

/// Records that are lines; empty lines are no records.
struct LineSplitter: RecordSplitter {
  typealias Record = Data

  var start: Int?

  init() {}

  mutating func next(
    in bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    isAtEnd: Bool
  ) throws -> Range<Int>? {
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\n") {
        guard let begin = start else { continue }
        start = nil
        return begin..<position - 1
      }
      if start == nil, !byte.isJSONSpace { start = position - 1 }
    }
    guard isAtEnd, let begin = start else { return nil }
    start = nil
    return begin..<bytes.count
  }
}

/// The elements of a JSON array, found by brackets, strings and commas; the decoder reads the content of an
/// element.
struct ArraySplitter: RecordSplitter {
  typealias Record = Data

  private enum State { case beforeArray, beforeElement, inElement, afterArray }

  var start: Int?
  private var state = State.beforeArray
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var hasElements = false

  init() {}

  mutating func next(
    in bytes: UnsafeRawBufferPointer,
    _ position: inout Int,
    isAtEnd: Bool
  ) throws -> Range<Int>? {
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch state {
      case .inElement:
        if let end = endOfElement(byte, position - 1) { return end }
      case _ where byte.isJSONSpace: break
      case .beforeArray:
        guard byte == UInt8(ascii: "[") else { throw ImportError(.notAnArray, "the text is no JSON array") }
        state = .beforeElement
      case .beforeElement: try beginElement(byte, position - 1)
      case .afterArray: throw ImportError(.notAnArray, "something follows the end of the array")
      }
    }
    if isAtEnd, state == .beforeArray { throw ImportError(.notAnArray, "the text is empty") }
    if isAtEnd, state != .afterArray {
      throw ImportError(.truncated, "the text ends within the array")
    }
    return nil
  }

  private mutating func beginElement(_ byte: UInt8, _ place: Int) throws {
    if byte == UInt8(ascii: "]"), !hasElements {
      state = .afterArray
      return
    }
    if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
      throw ImportError(.malformedRecord, "it is empty")
    }
    state = .inElement
    start = place
    _ = endOfElement(byte, place)
  }

  private mutating func endOfElement(_ byte: UInt8, _ place: Int) -> Range<Int>? {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      return nil
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"): depth -= 1
    case UInt8(ascii: "]") where depth > 0: depth -= 1
    case UInt8(ascii: ","), UInt8(ascii: "]"):
      guard depth <= 0, let begin = start else { return nil }
      start = nil
      hasElements = true
      state = byte == UInt8(ascii: ",") ? .beforeElement : .afterArray
      return begin..<place
    default: break
    }
    return nil
  }
}

extension UInt8 {
  var isJSONSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
