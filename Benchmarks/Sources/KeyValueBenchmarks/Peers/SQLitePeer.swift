import BenchmarkHarness
import CSQLite
import Synchronization

/// SQLite as a key-value store: a table without row IDs, a write-ahead log, every commit synced, statements prepared
/// once and a page cache of its own for each connection. Threads that read at the same time have a connection each.
/// Threads that write take turns at a lock, which costs less than SQLite's own waiting.
final class SQLitePeer: KeyValuePeer {
  static let name = "SQLite"
  static var version: String { SQLiteConnection.version }
  static let groupsCommits = false

  private let path: String
  private let cacheBytes: Int
  private let idle: Mutex<Idle>
  private let writers = Mutex(())

  init(folder: String, isNew: Bool, cacheBytes: Int) throws {
    path = folder + "/store.sqlite"
    self.cacheBytes = cacheBytes
    let connection = try Self.connect(path, cacheBytes)
    if isNew {
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute(
        "CREATE TABLE entry (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
      )
    }
    idle = Mutex(Idle(connections: [connection]))
  }

  func close() { idle.withLock { $0.connections = [] } }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    try withConnection { connection in
      try connection.execute("BEGIN IMMEDIATE")
      let insert = try connection.prepare("INSERT INTO entry VALUES (?, ?)")
      for number in order { try Self.put(entries, number, 0, insert, connection) }
      try connection.execute("COMMIT")
    }
  }

  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum {
    try withConnection { connection in
      try connection.execute("BEGIN")
      let select = try connection.prepare("SELECT value FROM entry WHERE key = ?")
      var sum = Checksum()
      for number in order {
        try entries.withKey(number) { key in
          SQLiteConnection.bind(key, to: 1, of: select)
          guard sqlite3_step(select) == SQLITE_ROW else { throw connection.failure() }
          sum.add(SQLiteConnection.blob(select, 0))
          sqlite3_reset(select)
        }
      }
      try connection.execute("COMMIT")
      return sum
    }
  }

  func scan() throws -> Checksum {
    try withConnection { connection in
      let select = try connection.prepare("SELECT key, value FROM entry ORDER BY key")
      defer { sqlite3_reset(select) }
      var sum = Checksum()
      while sqlite3_step(select) == SQLITE_ROW {
        sum.add(SQLiteConnection.blob(select, 0))
        sum.add(SQLiteConnection.blob(select, 1))
      }
      return sum
    }
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    try withConnection { connection in
      let select = try connection.prepare("SELECT count(*) FROM entry WHERE key >= ? AND key < ?")
      defer { sqlite3_reset(select) }
      return try lower.withUnsafeBytes { lower in
        try upper.withUnsafeBytes { upper in
          SQLiteConnection.bind(lower, to: 1, of: select)
          SQLiteConnection.bind(upper, to: 2, of: select)
          guard sqlite3_step(select) == SQLITE_ROW else { throw connection.failure() }
          return Int(sqlite3_column_int64(select, 0))
        }
      }
    }
  }

  func put(_ entries: Entries, _ change: Change) throws {
    try withConnection { connection in
      try connection.execute("BEGIN IMMEDIATE")
      let insert = try connection.prepare(Self.replace)
      for number in change.order { try Self.put(entries, number, change.shift, insert, connection) }
      try connection.execute("COMMIT")
    }
  }

  func putEach(_ entries: Entries, _ change: Change) throws {
    for number in change.order {
      try writers.withLock { _ in
        try withConnection { connection in
          let insert = try connection.prepare(Self.replace)
          try Self.put(entries, number, change.shift, insert, connection)
        }
      }
    }
  }

  private static let replace = "INSERT OR REPLACE INTO entry VALUES (?, ?)"

  private static func put(
    _ entries: Entries,
    _ number: Int,
    _ shift: Int,
    _ insert: OpaquePointer,
    _ connection: SQLiteConnection
  ) throws {
    try entries.withChanged(number, shift) { key, value in
      SQLiteConnection.bind(key, to: 1, of: insert)
      SQLiteConnection.bind(value, to: 2, of: insert)
      guard sqlite3_step(insert) == SQLITE_DONE else { throw connection.failure() }
      sqlite3_reset(insert)
    }
  }

  // MARK: Connections

  // Safety: a connection is either in here, behind the lock, or used by the one thread that took it out.
  private struct Idle: @unchecked Sendable {
    var connections: [SQLiteConnection]
  }

  private static func connect(_ path: String, _ cacheBytes: Int) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, peer: name)
    try connection.execute("PRAGMA synchronous = FULL")
    try connection.execute("PRAGMA cache_size = -\(cacheBytes >> 10)")
    return connection
  }

  /// Lends the connection that was used last, so that its cache is warm, or a new one.
  private func withConnection<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
    let taken = idle.withLock { Idle(connections: $0.connections.popLast().map { [$0] } ?? []) }
    let connection = try taken.connections.first ?? Self.connect(path, cacheBytes)
    let returned = Idle(connections: [connection])
    defer { idle.withLock { $0.connections += returned.connections } }
    return try body(connection)
  }
}
