/// The report of a child process of K7.
struct FirstGet: Codable {
  var seconds: Double
  var checksum: UInt64

  /// A key as an argument of a command.
  static func text(_ key: [UInt8]) -> String {
    key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
