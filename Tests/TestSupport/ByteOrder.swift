import Glibc

// Comparisons of byte strings. In a build without optimisation the standard library's call a function for each byte.

extension [UInt8] {
  /// Returns whether these bytes come before others: by the first byte that differs, or as their beginning.
  public func precedes(_ other: [UInt8]) -> Bool {
    let order = memcmp(self, other, Swift.min(count, other.count))
    return order < 0 || (order == 0 && count < other.count)
  }

  /// Returns whether these bytes are the same as others.
  public func equals(_ other: [UInt8]?) -> Bool { other?.withUnsafeBytes { equals($0) } ?? false }

  public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    return other.baseAddress.map { memcmp(self, $0, count) == 0 } ?? true
  }
}
