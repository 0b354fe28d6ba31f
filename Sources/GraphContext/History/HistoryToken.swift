import Foundation

/// A place in the history of a store: after one commit, before the next.
///
/// A program that follows the history keeps the token of the last transaction that it has read, and reads from there
/// the next time, perhaps in another process.
public struct HistoryToken: Sendable, Hashable {
  /// The store whose history it is.
  public let storeID: UUID
  /// The number of the commit before the place.
  package let commit: UInt64
  /// The bits of the date of the last transaction before the place, or ``markOfNone``. A store that has lost commits
  /// gives their numbers to other commits, which have another date. 0 in a token of a library version without marks.
  let mark: UInt64
  /// The mark of a place before which the history has no transaction.
  static let markOfNone: UInt64 = 1

  init(storeID: UUID, commit: UInt64, mark: UInt64 = 0) {
    self.storeID = storeID
    self.commit = commit
    self.mark = mark
  }
}

extension HistoryToken: Comparable {
  /// Returns true for tokens of one place. One of them may have been made after the history had forgotten the
  /// transactions before the place.
  public static func == (left: HistoryToken, right: HistoryToken) -> Bool {
    (left.commit, left.storeID) == (right.commit, right.storeID)
  }

  /// Hashes the values that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(commit)
    hasher.combine(storeID)
  }

  /// Orders tokens by their places in one history. Tokens of different stores have some order too, which means nothing.
  public static func < (left: HistoryToken, right: HistoryToken) -> Bool {
    (left.commit, left.storeID.uuidString) < (right.commit, right.storeID.uuidString)
  }
}

extension HistoryToken: CustomStringConvertible, LosslessStringConvertible, Codable {
  /// The store's ID, a colon and the number of a commit; mostly followed by a colon and a mark of the commit in
  /// hexadecimal digits. ``init(_:)`` reads it.
  public var description: String {
    mark == 0 ? "\(storeID):\(commit)" : "\(storeID):\(commit):\(String(mark, radix: 16))"
  }

  /// Makes a token of its description; nil for a text that ``description`` doesn't give.
  public init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false)
    guard 2...3 ~= parts.count, let storeID = UUID(uuidString: String(parts[0])),
      let commit = UInt64(parts[1])
    else { return nil }
    let mark = parts.count == 3 ? UInt64(parts[2], radix: 16) : 0
    guard let mark, (mark == 0) == (parts.count == 2) else { return nil }
    self.init(storeID: storeID, commit: commit, mark: mark)
    // The parsers of numbers and IDs take other spellings, too: a sign, zeros in front, small letters.
    if self.description != description { return nil }
  }

  /// - Throws: `DecodingError.dataCorrupted` for a text that is no token.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = HistoryToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a token of a history.")
    }
    self = token
  }

  /// Encodes ``description``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
