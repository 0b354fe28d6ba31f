import Foundation

/// A place in the history of a store: after one commit, before the next.
///
/// A program that follows the history keeps the token of the last transaction that it has read, and reads from there the next time, perhaps in another
/// process.
public struct HistoryToken: Sendable, Hashable {
  /// The store whose history it is.
  public let storeID: UUID
  /// The number of the commit before the place.
  package let commit: UInt64

  init(storeID: UUID, commit: UInt64) {
    self.storeID = storeID
    self.commit = commit
  }
}

extension HistoryToken: Comparable {
  /// The order of the places in one history. Tokens of different stores have some order too, which means nothing.
  public static func < (left: HistoryToken, right: HistoryToken) -> Bool {
    (left.commit, left.storeID.uuidString) < (right.commit, right.storeID.uuidString)
  }
}

extension HistoryToken: CustomStringConvertible, LosslessStringConvertible, Codable {
  /// The store's ID, a colon and the number of a commit. ``init(_:)`` reads it.
  public var description: String { "\(storeID):\(commit)" }

  /// Nil for a text that ``description`` doesn't give.
  public init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let storeID = UUID(uuidString: String(parts[0])), let commit = UInt64(parts[1])
    else { return nil }
    self.init(storeID: storeID, commit: commit)
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
