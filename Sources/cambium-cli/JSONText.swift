import Foundation

/// Output of the tool for programs.
enum JSONText {
  /// Prints a value as JSON, its members in order of their names.
  static func print(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    StandardOutput.print(json: String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
