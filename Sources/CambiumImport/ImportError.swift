/// An error in the imported records, or in the source that they are read from.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: Sendable, Hashable {
    /// A record doesn't have the input's format, or can't be decoded.
    case malformedRecord
    /// The text is no JSON array.
    case notAnArray
    /// The text ends within a record or an array.
    case truncated
    /// A record is longer than the input's limit, or a CSV text has more columns than it may.
    case recordTooLong
    /// The source had another number of records when it was read for the second time, for relationships.
    case sourceChanged
    /// The file can't be opened, read or written.
    case file
  }

  /// The kind of error.
  public let code: Code
  /// The error in words.
  public let message: String
  /// The number of the record, from 1; nil where the error doesn't belong to one record.
  public let record: Int?
  /// The error of the decoder or the system; nil for none.
  public let underlyingError: (any Error)?

  package init(_ code: Code, _ message: String, record: Int? = nil, underlyingError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.record = record
    self.underlyingError = underlyingError
  }

  /// Returns the error with the number of a record, unless it has one.
  func of(record number: Int?) -> ImportError {
    ImportError(code, message, record: record ?? number, underlyingError: underlyingError)
  }

  /// The message, with the number of the record.
  public var description: String {
    let place = record.map { "record \($0): " } ?? ""
    return place + message + (underlyingError.map { " (\($0))" } ?? "")
  }
}
