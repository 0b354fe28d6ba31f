/// How often the random conditions were about each kind of property, and how often they then told objects apart.
struct KindCoverage {
  enum Kind: String, CaseIterable {
    case attribute, embeddedValue, derivedNumber, derivedText, list, externalValue, objectClass, toOne,
      ordered, manyToMany

    /// The key paths of the kind. A condition is about the kind if it has one of these paths, or a path that
    /// continues one of them after a point.
    fileprivate var paths: Set<String> {
      switch self {
      case .attribute: ["year", "pages", "scale", "minutes", "title", "motto", "mark"]
      case .embeddedValue: ["size", "spine", "slot"]
      case .derivedNumber:
        ["noteCount", "weight", "trackCount", "longest", "shelf.itemCount", "shelf.newest"]
      case .derivedText: ["plainTitle", "plainMotto", "firstNote", "smallTitle"]
      case .list: ["tags", "words"]
      case .externalValue: ["cover", "text"]
      case .objectClass: ["TYPE", "KIND"]
      case .toOne: ["shelf"]
      case .ordered: ["shelf.items", "tracks"]
      case .manyToMany: ["fans"]
      }
    }

    fileprivate func isIn(_ words: [Substring]) -> Bool {
      words.contains { word in paths.contains { word == $0 || word.hasPrefix($0 + ".") } }
    }
  }

  private var counts: [Kind: (drawn: Int, dividing: Int)] = [:]

  mutating func note(_ text: String, found: Int, of count: Int) {
    let words = text.split { " (){},".contains($0) }
    for kind in Kind.allCases where kind.isIn(words) {
      counts[kind, default: (0, 0)].drawn += 1
      if found > 0, found < count { counts[kind, default: (0, 0)].dividing += 1 }
    }
  }

  /// The kinds of which no condition was true for some objects and false for others.
  var missing: [Kind] { Kind.allCases.filter { counts[$0, default: (0, 0)].dividing == 0 } }

  /// A line for each kind: how many conditions, and how many of them told objects apart.
  var table: String {
    Kind.allCases.map { kind in
      let (drawn, dividing) = counts[kind, default: (0, 0)]
      return "\(kind.rawValue): \(drawn) conditions, \(dividing) true for some objects and false for others"
    }
    .joined(separator: "\n")
  }
}
