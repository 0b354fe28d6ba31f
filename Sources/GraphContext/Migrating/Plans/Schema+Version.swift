extension Schema {
  /// The version of an app's schema, which the store keeps: `Schema.Version(2, 1)` is 2.1.0.
  public struct Version: Sendable, Hashable {
    /// The first number, which is compared first.
    public let major: UInt32
    /// The second number.
    public let minor: UInt32
    /// The third number.
    public let patch: UInt32

    /// Makes a version; numbers that are left out are 0.
    public init(_ major: UInt32, _ minor: UInt32 = 0, _ patch: UInt32 = 0) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }
  }
}

extension Schema.Version: Comparable {
  public static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}

extension Schema.Version: LosslessStringConvertible {
  /// Three numbers with dots between them.
  public var description: String { "\(major).\(minor).\(patch)" }

  /// Reads one to three numbers with dots between them; nil for anything else.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { UInt32($0) }
    guard numbers.count == parts.count, (1...3).contains(numbers.count) else { return nil }
    self.init(numbers[0], numbers.count > 1 ? numbers[1] : 0, numbers.count > 2 ? numbers[2] : 0)
  }
}

extension Schema.Version: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let version = Self(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "“\(text)” is no version: one to three numbers with dots between them"
      )
    }
    self = version
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
