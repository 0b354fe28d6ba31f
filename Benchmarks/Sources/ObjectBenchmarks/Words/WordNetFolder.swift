import Foundation

/// A line of one of WordNet's data files.
struct SynsetRecord {
  struct Pointer {
    var symbol: String
    var target: SynsetKey
  }

  var kind: String
  var offset: Int
  /// As they are written: `Carey`, `New York`.
  var words: [String]
  var pointers: [Pointer]
  var gloss: String

  var key: SynsetKey { SynsetKey(partOfSpeech: partOfSpeech, offset: offset) }
  /// Adjectives near another one are adjectives.
  var partOfSpeech: String { kind == "s" ? "a" : kind }
}

/// The identity of a synset: offsets of different files may be the same.
struct SynsetKey: Hashable {
  var partOfSpeech: String
  var offset: Int
}

/// The identity of a word.
struct WordKey: Hashable {
  var lemma: String
  var partOfSpeech: String
}

/// The database files of WordNet 3.0 (wndb(5WN)), as Debian's package wordnet-base has them.
struct WordNetFolder {
  struct Malformed: Error, CustomStringConvertible {
    let line: Substring
    var description: String { "no line of WordNet's data: \(line.prefix(80))" }
  }

  var path: String

  /// - Parameter limit: how many synsets to read of each part of speech; pointers to others are left out.
  func synsets(limit: Int?) throws -> [SynsetRecord] {
    var records: [SynsetRecord] = []
    for part in ["noun", "verb", "adj", "adv"] {
      let text = try String(contentsOf: URL(fileURLWithPath: "\(path)/data.\(part)"), encoding: .utf8)
      // The licence, which every file begins with, is indented.
      let lines = text.split(separator: "\n").lazy.filter { !$0.hasPrefix(" ") }
      for line in lines.prefix(limit ?? .max) { records.append(try Self.record(line)) }
    }
    if limit == nil { return records }
    let keys = Set(records.map(\.key))
    for place in records.indices { records[place].pointers.removeAll { !keys.contains($0.target) } }
    return records
  }

  /// `offset file kind count word id … count symbol offset kind place … | gloss`
  private static func record(_ line: Substring) throws -> SynsetRecord {
    guard let bar = line.firstRange(of: " | ") else { throw Malformed(line: line) }
    var fields = line[..<bar.lowerBound].split(separator: " ")[...]
    func next() throws -> Substring {
      guard let field = fields.popFirst() else { throw Malformed(line: line) }
      return field
    }
    func number(radix: Int = 10) throws -> Int {
      guard let number = Int(try next(), radix: radix) else { throw Malformed(line: line) }
      return number
    }
    let offset = try number()
    _ = try next()
    let kind = String(try next())
    var words: [String] = []
    for _ in 0..<(try number(radix: 16)) {
      words.append(text(try next()))
      _ = try next()
    }
    var pointers: [SynsetRecord.Pointer] = []
    for _ in 0..<(try number()) {
      let symbol = String(try next())
      let target = try number()
      let key = SynsetKey(partOfSpeech: String(try next()), offset: target)
      pointers.append(.init(symbol: symbol, target: key))
      _ = try next()
    }
    let gloss = line[bar.upperBound...].trimmingCharacters(in: .whitespaces)
    return SynsetRecord(kind: kind, offset: offset, words: words, pointers: pointers, gloss: gloss)
  }

  /// Underscores stand for spaces; a place in the sentence may follow an adjective: `galore(ip)`.
  private static func text(_ field: Substring) -> String {
    String(field.prefix { $0 != "(" }.replacing("_", with: " "))
  }
}
