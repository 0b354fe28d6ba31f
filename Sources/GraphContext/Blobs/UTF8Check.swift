import Foundation

/// Whether bytes that come in pieces are UTF-8. A character may be in two pieces.
struct UTF8Check: Sendable {
  /// The beginning of a character whose other bytes have yet to come: at most three bytes.
  private var beginning = Data()

  /// Whether all bytes so far are whole characters.
  var isComplete: Bool { beginning.isEmpty }

  /// Returns false if the bytes so far are no beginning of a text. O(bytes).
  mutating func accepts(_ piece: Data) -> Bool {
    let bytes = beginning + piece
    let whole = bytes.count - Self.incompleteCount(at: bytes.suffix(3))
    beginning = Data(bytes.dropFirst(whole))
    return String(validating: bytes.prefix(whole), as: UTF8.self) != nil
  }

  /// How many of the last bytes begin a character that needs more bytes.
  private static func incompleteCount(at end: Data) -> Int {
    guard let lead = end.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return 0 }
    let there = end.endIndex - lead
    let wanted =
      switch end[lead] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    return there < wanted ? there : 0
  }
}
