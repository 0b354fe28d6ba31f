import BenchmarkHarness
import CSQLite
import Cambium

/// Imports WordNet into a store and into a database: the same rows in the same order, relationships as foreign keys,
/// and the same indexes.
struct WordImporter {
  struct Counts {
    var synsets = 0
    var words = 0
    var senses = 0
    var pointers = 0
  }

  private let records: [SynsetRecord]
  /// In the order in which they are first seen.
  private let words: [WordKey]
  private let places: [WordKey: Int]

  init(_ records: [SynsetRecord]) {
    self.records = records
    var words: [WordKey] = []
    var places: [WordKey: Int] = [:]
    for record in records {
      for text in record.words {
        let key = WordKey(text, of: record)
        if places[key] != nil { continue }
        places[key] = words.count
        words.append(key)
      }
    }
    self.words = words
    self.places = places
  }

  var counts: Counts {
    Counts(
      synsets: records.count,
      words: words.count,
      senses: records.reduce(0) { $0 + $1.words.count },
      pointers: records.reduce(0) { $0 + $1.pointers.count }
    )
  }

  // MARK: Cambium

  func fill(_ container: PersistentContainer) async throws {
    try await container.performBackgroundTask { context in
      let words = self.words.map(Word.init)
      for word in words { context.insert(word) }
      var synsets: [SynsetKey: Synset] = [:]
      for record in records {
        let synset = Synset(record)
        context.insert(synset)
        synsets[record.key] = synset
        for text in record.words {
          guard let place = places[WordKey(text, of: record)] else { continue }
          context.insert(Sense(text, of: words[place], in: synset))
        }
      }
      for record in records {
        guard let source = synsets[record.key] else { continue }
        for pointer in record.pointers {
          guard let target = synsets[pointer.target] else { continue }
          context.insert(Pointer(pointer.symbol, from: source, to: target))
        }
      }
      try context.save()
    }
  }

  // MARK: SQLite

  func fill(_ database: SQLiteConnection) throws {
    try database.execute(Self.tables)
    try database.execute("BEGIN")
    for word in words {
      try insert(
        "INSERT INTO word VALUES (NULL, ?, ?)",
        [.text(word.lemma), .text(word.partOfSpeech)],
        database
      )
    }
    var synsets: [SynsetKey: Int] = [:]
    for (place, record) in records.enumerated() {
      synsets[record.key] = place + 1
      let values: [Value] = [.text(record.kind), .number(record.offset), .text(record.gloss)]
      try insert("INSERT INTO synset VALUES (NULL, ?, ?, ?)", values, database)
      for text in record.words {
        guard let word = places[WordKey(text, of: record)] else { continue }
        let values: [Value] = [.text(text), .number(word + 1), .number(place + 1)]
        try insert("INSERT INTO sense VALUES (NULL, ?, ?, ?)", values, database)
      }
    }
    for (place, record) in records.enumerated() {
      for pointer in record.pointers {
        guard let target = synsets[pointer.target] else { continue }
        let values: [Value] = [.text(pointer.symbol), .number(place + 1), .number(target)]
        try insert("INSERT INTO pointer VALUES (NULL, ?, ?, ?)", values, database)
      }
    }
    try database.execute("COMMIT")
  }

  private enum Value {
    case text(String)
    case number(Int)
  }

  private func insert(_ sql: String, _ values: [Value], _ database: SQLiteConnection) throws {
    let statement = try database.prepare(sql)
    for (place, value) in zip(Int32(1)..., values) {
      switch value {
      case .number(let number): sqlite3_bind_int64(statement, place, sqlite3_int64(number))
      case .text(let text):
        // SQLite takes a copy of the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, place, text, -1, transient)
      }
    }
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw database.failure() }
  }

  private static let tables = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE word (id INTEGER PRIMARY KEY, lemma TEXT NOT NULL, partOfSpeech TEXT NOT NULL);
    CREATE INDEX word_lemma ON word (lemma);
    CREATE TABLE synset (
      id INTEGER PRIMARY KEY, kind TEXT NOT NULL, offset INTEGER NOT NULL, gloss TEXT NOT NULL);
    CREATE INDEX synset_kind_offset ON synset (kind, offset);
    CREATE TABLE sense (
      id INTEGER PRIMARY KEY, text TEXT NOT NULL, wordId INTEGER REFERENCES word ON DELETE CASCADE,
      synsetId INTEGER REFERENCES synset ON DELETE CASCADE);
    CREATE INDEX sense_word ON sense (wordId);
    CREATE INDEX sense_synset ON sense (synsetId);
    CREATE TABLE pointer (
      id INTEGER PRIMARY KEY, symbol TEXT NOT NULL, sourceId INTEGER REFERENCES synset ON DELETE CASCADE,
      targetId INTEGER REFERENCES synset ON DELETE CASCADE);
    CREATE INDEX pointer_source ON pointer (sourceId);
    CREATE INDEX pointer_target ON pointer (targetId);
    """
}

extension WordKey {
  /// The word of which a text is one sense.
  fileprivate init(_ text: String, of record: SynsetRecord) {
    self.init(lemma: text.lowercased(), partOfSpeech: record.partOfSpeech)
  }
}
