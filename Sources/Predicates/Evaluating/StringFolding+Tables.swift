extension StringFolding {
  /// By what strings are folded: the version of the rules of ``StringFolding``, and that of the Unicode tables which the
  /// running standard library has, such as `1/16.0`. What was folded by the same folds to the same bytes.
  package static let tables: String = {
    let version = unicodeVersion
    return "1/\(version.major).\(version.minor)"
  }()

  /// The library doesn't say its version, but in which version each scalar came: the newest scalar tells. Every version
  /// has brought some, in the first planes.
  private static var unicodeVersion: Unicode.Version {
    var newest: Unicode.Version = (0, 0)
    for value in UInt32(0)..<0x4_0000 {
      guard let age = Unicode.Scalar(value)?.properties.age else { continue }
      if age > newest { newest = age }
    }
    return newest
  }
}
