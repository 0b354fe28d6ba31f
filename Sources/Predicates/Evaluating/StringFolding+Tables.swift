extension StringFolding {
  /// The version of the folding: the version of the rules of ``StringFolding``, and that of the running standard
  /// library's Unicode tables, such as `1/16.0`. Strings that are folded by equal versions have equal bytes.
  package static let tables: String = {
    let version = UnicodeTables.version { Unicode.Scalar($0)?.properties.age }
    return "1/\(version.major).\(version.minor)"
  }()
}

/// A way to determine the Unicode version of some tables.
///
/// The standard library doesn't give its version, but the version in which each scalar was added. The newest scalar
/// gives the version of the tables. Every version of the last ten years whose scalars matter to folding has brought
/// many columns of sixteen scalars in the first planes, so the first scalar of every second column is enough
/// (Docs/Decisions/0024). Looking at every scalar takes most of the time in which a small store opens.
enum UnicodeTables {
  /// The usual distance of examined scalars: two columns of the code charts, by which scalars are assigned.
  static let usualStep = 32
  /// The number of examined scalars: all planes with characters that may be folded.
  static let scalarCount = 0x4_0000

  /// Returns the newest version among those of every `step`-th scalar.
  ///
  /// - Parameter age: returns the version in which a scalar was added; nil for a number that is no scalar, or not
  ///   assigned.
  static func version(step: Int = usualStep, age: (UInt32) -> Unicode.Version?) -> Unicode.Version {
    var newest: Unicode.Version = (0, 0)
    for value in stride(from: 0, to: scalarCount, by: step) {
      guard let age = age(UInt32(value)) else { continue }
      if age > newest { newest = age }
    }
    return newest
  }
}
