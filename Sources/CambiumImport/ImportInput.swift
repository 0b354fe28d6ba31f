import Cambium

/// The source from which an import reads its records, one after the other: an array, a file, a stream.
///
/// Memory holds a part of a file or stream, never all of it, and no more than the limit of one record.
/// ``ImportOptions/Commits`` says how many imported objects are in memory.
public struct ImportInput<Record: SendableMetatype>: Sendable {
  /// Returns the next record; nil after the last.
  public typealias Reader = () throws -> Record?

  /// Begins to read. The reader notes padded records.
  package let openReader: @Sendable (ImportNotes) throws -> Reader
  /// True if the records can be read a second time.
  public let isRepeatable: Bool
  /// The number of records; nil where it isn't known before they are read.
  public let count: Int?
  /// True if the input is a collection, which has its records in memory.
  let isCollection: Bool

  /// Reads the elements of a collection.
  public init(_ records: some Collection<Record> & Sendable) {
    self.init(isRepeatable: true, count: records.count, isCollection: true) { _ in
      var iterator = records.makeIterator()
      return { iterator.next() }
    }
  }

  /// Reads what a closure returns.
  ///
  /// - Parameters:
  ///   - isRepeatable: whether `makeReader` can be called again, for the same records. If not, properties and
  ///     relationships are imported batch by batch.
  ///   - count: the number of records; nil where it isn't known.
  ///   - makeReader: begins to read. The closure that it returns is called for one record after the other, on one
  ///     thread.
  public init(
    isRepeatable: Bool,
    count: Int? = nil,
    makeReader: @escaping @Sendable () throws -> Reader
  ) {
    self.init(isRepeatable: isRepeatable, count: count, isCollection: false) { _ in try makeReader() }
  }

  /// Reads what a closure returns, as the public initialiser does.
  ///
  /// - Parameter openReader: begins to read; the reader notes padded records.
  package init(noting openReader: @escaping @Sendable (ImportNotes) throws -> Reader, isRepeatable: Bool) {
    self.init(isRepeatable: isRepeatable, count: nil, isCollection: false, openReader)
  }

  private init(
    isRepeatable: Bool,
    count: Int?,
    isCollection: Bool,
    _ openReader: @escaping @Sendable (ImportNotes) throws -> Reader
  ) {
    self.openReader = openReader
    self.isRepeatable = isRepeatable
    self.count = count
    self.isCollection = isCollection
  }

  /// Begins to read, without a report.
  package func makeReader() throws -> Reader { try openReader(ImportNotes()) }
}

extension ImportInput where Record: Decodable {
  /// Decodes the lines of a JSON Lines file. Empty lines are passed over.
  ///
  /// - Parameters:
  ///   - url: the file.
  ///   - decoder: makes the decoder.
  ///   - recordByteLimit: the length of a record, in bytes, beyond which it is refused
  ///     (``ImportError/Code/recordTooLong``).
  public static func jsonLines(
    at url: URL,
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    decoded(.file(at: url), LineSplitter(), decoder, recordByteLimit)
  }

  /// Decodes JSON Lines from a stream that can be read once.
  ///
  /// - Parameters:
  ///   - decoder: makes the decoder.
  ///   - recordByteLimit: the length of a record, in bytes, beyond which it is refused
  ///     (``ImportError/Code/recordTooLong``).
  ///   - chunks: returns the next bytes, of any length; nil at the end.
  public static func jsonLines(
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    decoded(.stream(chunks), LineSplitter(), decoder, recordByteLimit)
  }

  /// Decodes the elements of the JSON array that a file holds, one after the other.
  ///
  /// - Parameters:
  ///   - url: the file.
  ///   - decoder: makes the decoder.
  ///   - recordByteLimit: the length of a record, in bytes, beyond which it is refused
  ///     (``ImportError/Code/recordTooLong``).
  public static func jsonArray(
    at url: URL,
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit
  ) -> ImportInput {
    decoded(.file(at: url), ArraySplitter(), decoder, recordByteLimit)
  }

  /// Decodes the elements of a JSON array from a stream that can be read once.
  ///
  /// - Parameters:
  ///   - decoder: makes the decoder.
  ///   - recordByteLimit: the length of a record, in bytes, beyond which it is refused
  ///     (``ImportError/Code/recordTooLong``).
  ///   - chunks: returns the next bytes, of any length; nil at the end.
  public static func jsonArray(
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
    recordByteLimit: Int = ImportOptions.defaultRecordByteLimit,
    from chunks: @escaping @Sendable () throws -> Data?
  ) -> ImportInput {
    decoded(.stream(chunks), ArraySplitter(), decoder, recordByteLimit)
  }

  private static func decoded(
    _ bytes: ByteChunks,
    _ splitter: some RecordSplitter<Data>,
    _ makeDecoder: @escaping @Sendable () -> JSONDecoder,
    _ recordByteLimit: Int
  ) -> ImportInput {
    ImportInput(isRepeatable: bytes.isRepeatable) {
      var reader = SplitReader(try bytes.open(), splitter, recordByteLimit: recordByteLimit)
      let decoder = makeDecoder()
      return {
        guard let bytes = try reader.next() else { return nil }
        do {
          return try decoder.decode(Record.self, from: bytes)
        } catch {
          throw ImportError(
            .malformedRecord,
            "it can't be decoded",
            record: reader.recordCount,
            underlyingError: error
          )
        }
      }
    }
  }
}
