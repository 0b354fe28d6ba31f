import CSQLite
import Foundation

/// SQLite as a key-value store: a table without row IDs, a write-ahead log, every commit synced, statements prepared once
/// and a page cache that holds everything.
final class SQLitePeer: KeyValuePeer {
  static let name = "SQLite"

  private let connection: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  init(folder: String) throws {
    var connection: OpaquePointer?
    guard sqlite3_open(folder + "/store.sqlite", &connection) == SQLITE_OK, let connection else {
      throw PeerError(peer: Self.name, message: "cannot open")
    }
    self.connection = connection
    for statement in [
      "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -1048576",
      "CREATE TABLE entry (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    ] {
      try execute(statement)
    }
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close(connection)
  }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    try execute("BEGIN IMMEDIATE")
    let insert = try prepare("INSERT INTO entry VALUES (?, ?)")
    for number in order { try put(entries, number, insert) }
    try execute("COMMIT")
  }

  func get(_ entries: Entries, order: [Int]) throws -> Checksum {
    try execute("BEGIN")
    let select = try prepare("SELECT value FROM entry WHERE key = ?")
    var sum = Checksum()
    for number in order {
      try entries.withKey(number) { key in
        sqlite3_bind_blob(select, 1, key.baseAddress, Int32(key.count), nil)
        guard sqlite3_step(select) == SQLITE_ROW else { throw failure() }
        sum.add(Self.blob(select, 0))
        sqlite3_reset(select)
      }
    }
    try execute("COMMIT")
    return sum
  }

  func scan() throws -> Checksum {
    let select = try prepare("SELECT key, value FROM entry ORDER BY key")
    defer { sqlite3_reset(select) }
    var sum = Checksum()
    while sqlite3_step(select) == SQLITE_ROW {
      sum.add(Self.blob(select, 0))
      sum.add(Self.blob(select, 1))
    }
    return sum
  }

  func putEach(_ entries: Entries, order: ArraySlice<Int>) throws {
    let insert = try prepare("INSERT OR REPLACE INTO entry VALUES (?, ?)")
    for number in order { try put(entries, number, insert) }
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    let select = try prepare("SELECT count(*) FROM entry WHERE key >= ? AND key < ?")
    defer { sqlite3_reset(select) }
    return try lower.withUnsafeBytes { lower in
      try upper.withUnsafeBytes { upper in
        sqlite3_bind_blob(select, 1, lower.baseAddress, Int32(lower.count), nil)
        sqlite3_bind_blob(select, 2, upper.baseAddress, Int32(upper.count), nil)
        guard sqlite3_step(select) == SQLITE_ROW else { throw failure() }
        return Int(sqlite3_column_int64(select, 0))
      }
    }
  }

  private func put(_ entries: Entries, _ number: Int, _ insert: OpaquePointer) throws {
    try entries.withKey(number) { key in
      try entries.withValue(number) { value in
        sqlite3_bind_blob(insert, 1, key.baseAddress, Int32(key.count), nil)
        sqlite3_bind_blob(insert, 2, value.baseAddress, Int32(value.count), nil)
        guard sqlite3_step(insert) == SQLITE_DONE else { throw failure() }
        sqlite3_reset(insert)
      }
    }
  }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure()
    }
    statements[sql] = statement
    return statement
  }

  private func execute(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  private func failure() -> PeerError {
    PeerError(peer: Self.name, message: String(cString: sqlite3_errmsg(connection)))
  }

  private static func blob(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(statement, column),
      count: Int(sqlite3_column_bytes(statement, column))
    )
  }
}
