/// The words of NSPredicate's language. They are recognised in any mix of capitals and small letters; `#word`
/// is the name and not the keyword.
enum FormatKeyword: String, CaseIterable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case `in` = "IN"
  case between = "BETWEEN"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
  case like = "LIKE"
  case matches = "MATCHES"
  case `nil` = "NIL"
  case null = "NULL"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case `self` = "SELF"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case cast = "CAST"
  // Known and refused.
  case any = "ANY"
  case some = "SOME"
  case all = "ALL"
  case none = "NONE"
  case anyKey = "ANYKEY"
  case subquery = "SUBQUERY"
  case conformsTo = "UTI-CONFORMS-TO"
  case equalsUTI = "UTI-EQUALS"
  // Reserved by Apple's grammar in rules that are not part of this one; ordinary names here.
  case caseInsensitive = "CASEINSENSITIVE"
  case ci = "CI"
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"

  /// True if the word can't start an operand as a name.
  var isReserved: Bool {
    switch self {
    case .caseInsensitive, .ci, .first, .last, .size: false
    default: true
    }
  }

  private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
  private static let longest = allCases.map(\.rawValue.utf8.count).max() ?? 0

  /// Makes the keyword that the word spells, in ASCII: “ın” is a name, though its capitals are IN.
  init?(_ word: String) {
    guard word.utf8.count <= Self.longest, word.utf8.allSatisfy({ $0 < 0x80 }),
      let keyword = Self.byName[word.uppercased()]
    else { return nil }
    self = keyword
  }

  /// Returns the name as it is written in a path: `#in` for a keyword, `` `any text` `` for a name that is no
  /// identifier.
  static func escapedIdentifier(_ name: String) -> String {
    if FormatIdentifier.isIdentifier(name) { return FormatKeyword(name) == nil ? name : "#" + name }
    // Scalar by scalar: a mark after a backslash would hide it from a search for characters.
    var escaped = "`".unicodeScalars
    for scalar in name.unicodeScalars {
      if scalar == "\\" || scalar == "`" { escaped.append("\\") }
      escaped.append(scalar)
    }
    escaped.append("`")
    return String(escaped)
  }
}

/// The characters of a name.
enum FormatIdentifier {
  /// Returns true for a letter or an underscore, as Unicode and Swift see it.
  static func isStart(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isXIDStart }
  /// Returns true for a letter, a digit, a mark or an underscore.
  static func isContinuation(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }

  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isStart(first) else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy(isContinuation)
  }
}
