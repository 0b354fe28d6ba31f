import Cambium
import GraphTestSupport
import Predicates
import TestSupport

/// An item of a ``Media`` store as plain values, with what its relationships lead to.
struct KindSubject {
  var item: PlainMedium
  /// The name of its shelf, and the shelf's items in order.
  var shelf: (name: String, items: [PlainMedium])?
}

/// A condition on items in words, and the same in plain Swift.
struct KindCondition {
  var text: String
  var arguments: [(any PredicateArgument)?] = []
  var holds: (KindSubject) -> Bool

  static let words = ["x", "y", "z", "xy", ""]
  /// The greatest random number, of properties and of conditions.
  static let top = 6

  /// The classes that can be queried with the condition: the root for properties of all classes, another class for
  /// its own properties and those of the classes above it.
  var roots: [String] {
    let names = Set(text.split { !$0.isLetter }.map(String.init))
    let owners = Self.owners.filter { !names.isDisjoint(with: $0.names) }.map(\.owner)
    let kinds = PlainMedium.Kind.allCases.filter { $0.names.isSuperset(of: owners) }.map(\.rawValue)
    return ["Item"] + kinds
  }

  private static let owners: [(owner: String, names: Set<String>)] = [
    (
      "Book",
      [
        "pages", "isbn", "spine", "motto", "plainMotto", "words", "text", "notes", "noteCount", "weight",
        "firstNote", "fans",
      ]
    ),
    ("Atlas", ["scale", "edition", "smallTitle"]),
    ("Disc", ["minutes", "slot", "mark", "tracks", "trackCount", "longest"]),
  ]

  /// - Parameter isSaved: true if nothing is unsaved: derived values then agree with the values that they are derived from.
  static func any(depth: Int, isSaved: Bool, _ random: inout SeededGenerator) -> KindCondition {
    if depth == 0 { return leaf(isSaved: isSaved, &random) }
    let (a, b) = (
      any(depth: depth - 1, isSaved: isSaved, &random), any(depth: depth - 1, isSaved: isSaved, &random)
    )
    switch random.number(in: 0...3) {
    case 0: return KindCondition(text: "NOT (\(a.text))", arguments: a.arguments) { !a.holds($0) }
    case 1:
      return KindCondition(text: "(\(a.text)) OR (\(b.text))", arguments: a.arguments + b.arguments) {
        a.holds($0) || b.holds($0)
      }
    default:
      return KindCondition(text: "(\(a.text)) AND (\(b.text))", arguments: a.arguments + b.arguments) {
        a.holds($0) && b.holds($0)
      }
    }
  }

  private static func leaf(isSaved: Bool, _ random: inout SeededGenerator) -> KindCondition {
    switch random.number(in: 0...9) {
    case 0...1: number(isSaved, &random)
    case 2...3: text(isSaved, &random)
    case 4: missing(isSaved, &random)
    case 5...6: list(&random)
    case 7: relationship(&random)
    default: kind(&random)
    }
  }
}

// MARK: - Single values

extension KindCondition {
  typealias Part<Value> = (path: String, value: @Sendable (KindSubject) -> Value?)

  private static let numbers: [Part<Int>] = [
    ("year", { $0.item.year }),
    ("size.width", { $0.item.size?.width }),
    ("pages", { $0.item.kind.isBook ? $0.item.pages : nil }),
    ("isbn", { $0.item.kind.isBook ? $0.item.isbn : nil }),
    ("spine.width", { $0.item.kind.isBook ? $0.item.spine.width : nil }),
    ("scale", { $0.item.kind == .atlas ? $0.item.scale : nil }),
    ("edition", { $0.item.kind == .atlas ? $0.item.edition : nil }),
    ("minutes", { $0.item.kind == .disc ? $0.item.minutes : nil }),
    ("slot.width", { $0.item.kind == .disc ? $0.item.slot?.width : nil }),
  ]
  private static let derivedNumbers: [Part<Int>] = [
    ("noteCount", { $0.item.kind.isBook ? $0.item.notes.count : nil }),
    ("weight", { $0.item.kind.isBook ? $0.item.notes.reduce(0) { $0 + $1.utf8.count } : nil }),
    ("trackCount", { $0.item.kind == .disc ? $0.item.tracks.count : nil }),
    ("longest", { $0.item.kind == .disc ? $0.item.tracks.max() : nil }),
    ("shelf.itemCount", { $0.shelf?.items.count }),
    ("shelf.newest", { $0.shelf?.items.map(\.year).max() }),
  ]
  private static let texts: [Part<String>] = [
    ("title", { $0.item.title }),
    ("size.note", { $0.item.size?.note }),
    ("shelf.name", { $0.shelf?.name }),
    ("motto", { $0.item.kind.isBook ? $0.item.motto : nil }),
    ("spine.note", { $0.item.kind.isBook ? $0.item.spine.note : nil }),
    ("mark", { $0.item.kind == .disc ? $0.item.mark : nil }),
  ]
  private static let derivedTexts: [Part<String>] = [
    ("plainTitle", { $0.item.title.lowercased() }),
    ("plainMotto", { $0.item.kind.isBook ? $0.item.motto?.lowercased() : nil }),
    ("firstNote", { $0.item.kind.isBook ? $0.item.notes.min() : nil }),
    ("smallTitle", { $0.item.kind == .atlas ? $0.item.title.lowercased() : nil }),
  ]

  private static func number(_ isSaved: Bool, _ random: inout SeededGenerator) -> KindCondition {
    let part = random.pick(isSaved ? numbers + derivedNumbers : numbers)
    let (bound, other) = (random.number(in: 0...top), random.number(in: 0...top))
    switch random.number(in: 0...2) {
    case 0:
      let (low, high) = (min(bound, other), max(bound, other))
      return KindCondition(text: "\(part.path) BETWEEN {%d, %d}", arguments: [low, high]) {
        part.value($0).map { low <= $0 && $0 <= high } ?? false
      }
    case 1:
      return KindCondition(text: "\(part.path) IN {%d, %d}", arguments: [bound, other]) {
        part.value($0).map { $0 == bound || $0 == other } ?? false
      }
    default:
      let comparison = Comparison.any(&random)
      return KindCondition(text: "\(part.path) \(comparison.rawValue) %d", arguments: [bound]) {
        comparison.holds(part.value($0), bound)
      }
    }
  }

  private static func text(_ isSaved: Bool, _ random: inout SeededGenerator) -> KindCondition {
    let part = random.pick(isSaved ? texts + derivedTexts : texts)
    let word = random.pick(words)
    func string(_ words: String, _ test: @escaping (String) -> Bool) -> KindCondition {
      KindCondition(text: "\(part.path) \(words) %@", arguments: [word]) { part.value($0).map(test) ?? false }
    }
    switch random.number(in: 0...4) {
    case 0: return string("BEGINSWITH") { $0.utf8.starts(with: word.utf8) }
    case 1:
      return string("ENDSWITH[c]") { $0.lowercased().utf8.reversed().starts(with: word.utf8.reversed()) }
    case 2: return string("==[cd]") { $0.lowercased() == word }
    case 3: return string("CONTAINS") { word.isEmpty || $0.contains(word) }
    default:
      let comparison = Comparison.any(&random)
      return KindCondition(text: "\(part.path) \(comparison.rawValue) %@", arguments: [word]) {
        comparison.holds(part.value($0), word)
      }
    }
  }

  /// Returns a condition that asks whether a value is nil, also of properties that no other condition uses.
  private static func missing(_ isSaved: Bool, _ random: inout SeededGenerator) -> KindCondition {
    var parts: [Part<Any>] = [
      ("cover", { $0.item.cover }),
      ("size", { $0.item.size }),
      ("shelf", { $0.shelf }),
      ("text", { $0.item.kind.isBook ? $0.item.text : nil }),
      ("slot", { $0.item.kind == .disc ? $0.item.slot : nil }),
      ("words", { $0.item.kind.isBook ? $0.item.words : nil }),
      ("tags", { $0.item.tags }),
    ]
    parts += (isSaved ? numbers + derivedNumbers : numbers).map { part in (part.path, { part.value($0) }) }
    parts += (isSaved ? texts + derivedTexts : texts).map { part in (part.path, { part.value($0) }) }
    let part = random.pick(parts)
    if random.chance(1, in: 2) { return KindCondition(text: "\(part.path) == nil") { part.value($0) == nil } }
    return KindCondition(text: "\(part.path) != nil") { part.value($0) != nil }
  }

  private static func kind(_ random: inout SeededGenerator) -> KindCondition {
    let (name, other) = (
      random.pick(["Item", "Book", "Atlas", "Disc"]), random.pick(["Item", "Book", "Atlas", "Disc"])
    )
    switch random.number(in: 0...5) {
    case 0: return KindCondition(text: "TYPE == %@", arguments: [name]) { $0.item.kind.rawValue == name }
    case 1: return KindCondition(text: "TYPE != %@", arguments: [name]) { $0.item.kind.rawValue != name }
    case 2:
      return KindCondition(text: "TYPE IN {%@, %@}", arguments: [name, other]) {
        [name, other].contains($0.item.kind.rawValue)
      }
    case 3:
      return KindCondition(text: "KIND == %@", arguments: [name]) { $0.item.kind.names.contains(name) }
    case 4:
      return KindCondition(text: "KIND != %@", arguments: [name]) { !$0.item.kind.names.contains(name) }
    default:
      return KindCondition(text: "KIND IN {%@, %@}", arguments: [name, other]) {
        !$0.item.kind.names.isDisjoint(with: [name, other])
      }
    }
  }

  enum Comparison: String, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case atMost = "<="
    case greater = ">"
    case atLeast = ">="

    static func any(_ random: inout SeededGenerator) -> Comparison { random.pick(allCases) }

    /// Without a value only `!=` holds.
    func holds<Value: Comparable>(_ value: Value?, _ bound: Value) -> Bool {
      guard let value else { return self == .unequal }
      return switch self {
      case .equal: value == bound
      case .unequal: value != bound
      case .less: value < bound
      case .atMost: value <= bound
      case .greater: value > bound
      case .atLeast: value >= bound
      }
    }
  }
}

// MARK: - Elements

extension KindCondition {
  private static func list(_ random: inout SeededGenerator) -> KindCondition {
    let (path, elements): (String, (KindSubject) -> [String]) = random.pick([
      ("tags", { $0.item.tags }), ("words", { $0.item.kind.isBook ? $0.item.words : [] }),
      ("shelf.items.tags", { ($0.shelf?.items ?? []).flatMap(\.tags) }),
    ])
    let (word, other) = (random.pick(words), random.pick(words))
    func some(_ words: String, _ test: @escaping (String) -> Bool) -> KindCondition {
      KindCondition(text: "ANY \(path) \(words)", arguments: [word]) { elements($0).contains(where: test) }
    }
    switch random.number(in: 0...(path.contains(".") ? 3 : 8)) {
    case 0: return some("== %@") { $0 == word }
    case 1: return some("BEGINSWITH %@") { $0.utf8.starts(with: word.utf8) }
    case 2:
      return KindCondition(text: "NONE \(path) IN {%@, %@}", arguments: [word, other]) {
        elements($0).allSatisfy { $0 != word && $0 != other }
      }
    case 3:
      return KindCondition(text: "ALL \(path) != %@", arguments: [word]) {
        elements($0).allSatisfy { $0 != word }
      }
    case 4:
      return KindCondition(text: "\(path) CONTAINS %@", arguments: [word]) { elements($0).contains(word) }
    case 5: return KindCondition(text: "%@ IN \(path)", arguments: [word]) { elements($0).contains(word) }
    case 6:
      return KindCondition(text: "ANY \(path) >= %@", arguments: [word]) {
        elements($0).contains { $0 >= word }
      }
    case 7:
      let (comparison, bound) = (Comparison.any(&random), random.number(in: 0...3))
      return KindCondition(text: "\(path).@count \(comparison.rawValue) %d", arguments: [bound]) {
        comparison.holds(elements($0).count, bound)
      }
    default:
      let bound = random.number(in: 0...2)
      return KindCondition(
        text: "SUBQUERY(\(path), $w, $w != %@ AND $w < 'y').@count > %d",
        arguments: [word, bound]
      ) { elements($0).count { $0 != word && $0 < "y" } > bound }
    }
  }

  private static func relationship(_ random: inout SeededGenerator) -> KindCondition {
    let (word, bound) = (random.pick(words), random.number(in: 0...top))
    let comparison = Comparison.any(&random)
    func notes(_ subject: KindSubject) -> [String] { subject.item.kind.isBook ? subject.item.notes : [] }
    func fans(_ subject: KindSubject) -> Set<String> { subject.item.kind.isBook ? subject.item.fans : [] }
    func tracks(_ subject: KindSubject) -> [Int] { subject.item.kind == .disc ? subject.item.tracks : [] }
    func shelved(_ subject: KindSubject) -> [PlainMedium] { subject.shelf?.items ?? [] }
    switch random.number(in: 0...10) {
    case 0: return KindCondition(text: "ANY notes.text == %@", arguments: [word]) { notes($0).contains(word) }
    case 1:
      return KindCondition(text: "ALL notes.weight \(comparison.rawValue) %d", arguments: [bound]) {
        notes($0).allSatisfy { comparison.holds($0.utf8.count, bound) }
      }
    case 2:
      return KindCondition(text: "notes.@count \(comparison.rawValue) %d", arguments: [bound]) {
        comparison.holds(notes($0).count, bound)
      }
    case 3:
      return KindCondition(text: "notes.@sum.weight > %d", arguments: [bound]) {
        notes($0).reduce(0) { $0 + $1.utf8.count } > bound
      }
    case 4:
      return KindCondition(
        text: "SUBQUERY(notes, $n, $n.weight > 0 AND $n.text != %@).@count > %d",
        arguments: [word, bound % 2]
      ) { notes($0).count { !$0.isEmpty && $0 != word } > bound % 2 }
    case 5: return KindCondition(text: "ANY fans.name == 'A'") { fans($0).contains("A") }
    case 6:
      return KindCondition(text: "NONE fans.name IN {'A', 'B'}") { fans($0).isDisjoint(with: ["A", "B"]) }
    case 7:
      return KindCondition(text: "ANY tracks.seconds \(comparison.rawValue) %d", arguments: [bound]) {
        tracks($0).contains { comparison.holds($0, bound) }
      }
    case 8:
      return KindCondition(text: "tracks.@max.seconds \(comparison.rawValue) %d", arguments: [bound]) {
        comparison.holds(tracks($0).max(), bound)
      }
    case 9:
      return KindCondition(text: "ANY shelf.items.KIND == 'Atlas'") {
        shelved($0).contains { $0.kind == .atlas }
      }
    default:
      return KindCondition(
        text:
          "SUBQUERY(shelf.items, $i, $i.TYPE == 'Disc' AND $i.year > %d AND ANY $i.tags == %@).@count > 0",
        arguments: [bound, word]
      ) { shelved($0).contains { $0.kind == .disc && $0.year > bound && $0.tags.contains(word) } }
    }
  }
}
