/// The form in which bytes of a key are shown to people: as text where they are text, in hexadecimal digits
/// otherwise.
enum KeyText {
  /// Longer keys are cut, so that a row stays a line.
  private static let byteLimit = 48

  static func text(_ key: [UInt8]) -> String {
    let shown = key.prefix(byteLimit)
    let rest = key.count > byteLimit ? "… (\(key.count) bytes)" : ""
    if shown.isEmpty { return "\"\"" }
    if shown.allSatisfy({ (0x20..<0x7F).contains($0) }) {
      return "\"" + String(decoding: shown, as: UTF8.self) + "\"" + rest
    }
    return shown.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + rest
  }
}
