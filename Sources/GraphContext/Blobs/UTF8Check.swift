import Foundation

/// Checks that bytes are UTF-8. They come in pieces, and a character may begin in one piece and end in the next.
struct UTF8Check: Sendable {
  /// The first bytes of a character whose other bytes are not there yet: at most three bytes.
  private var beginning = Data()

  /// True if the bytes so far end with a whole character.
  var isComplete: Bool { beginning.isEmpty }

  /// Returns false if no valid text begins with the bytes so far. O(bytes).
  mutating func accepts(_ piece: Data) -> Bool {
    let bytes = beginning + piece
    let whole = bytes.count - Self.incompleteCount(at: bytes.suffix(3))
    beginning = Data(bytes.dropFirst(whole))
    return String(validating: bytes.prefix(whole), as: UTF8.self) != nil
  }

  /// Returns the number of bytes at the end that belong to a character whose other bytes are missing.
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
