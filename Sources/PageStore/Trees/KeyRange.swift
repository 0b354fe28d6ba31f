/// A range of keys in byte order.
public struct KeyRange: Hashable, Sendable {
  /// One end of a range.
  public enum Bound: Hashable, Sendable {
    /// The range reaches to the first or the last key.
    case unbounded
    /// The range ends with this key.
    case including([UInt8])
    /// The range ends right before this key; as the lower bound, it begins right after it.
    case excluding([UInt8])
  }

  /// Where the range begins.
  public var lower: Bound
  /// Where the range ends. A range that ends before it begins is empty.
  public var upper: Bound

  /// Makes a range between two bounds.
  public init(lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key.
  public static let all = KeyRange()

  /// Returns the keys that begin with `prefix`.
  public static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(lower: prefix.isEmpty ? .unbounded : .including(prefix), upper: successor(ofPrefix: prefix))
  }

  /// Returns the upper bound of the keys that begin with `prefix`: the shortest byte string above all of
  /// them, or unbounded if the prefix is all 0xFF.
  public static func successor(ofPrefix prefix: [UInt8]) -> Bound {
    var bytes = prefix
    while let last = bytes.last {
      if last < 0xFF {
        bytes[bytes.count - 1] = last + 1
        return .excluding(bytes)
      }
      bytes.removeLast()
    }
    return .unbounded
  }
}
