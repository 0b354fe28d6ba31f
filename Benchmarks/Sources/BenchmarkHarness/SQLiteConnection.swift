import CSQLite

/// A connection to SQLite's C interface, with the statements that it has prepared. One thread at a time.
package final class SQLiteConnection {
  package static var version: String { String(cString: sqlite3_libversion()) }

  private let peer: String
  private let connection: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  /// Opens the database, or makes it.
  ///
  /// - Parameter peer: the name of the peer, for its errors.
  package init(path: String, peer: String) throws {
    self.peer = peer
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK, let connection else {
      throw PeerError(peer: peer, message: "cannot open")
    }
    self.connection = connection
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close(connection)
  }

  /// The statement, prepared the first time.
  package func prepare(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure()
    }
    statements[sql] = statement
    return statement
  }

  package func execute(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  package func failure() -> PeerError {
    PeerError(peer: peer, message: String(cString: sqlite3_errmsg(connection)))
  }

  /// Binds bytes that stay at their address until the statement was run.
  @inlinable
  package static func bind(_ bytes: UnsafeRawBufferPointer, to place: Int32, of statement: OpaquePointer) {
    sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(bytes.count), nil)
  }

  @inlinable
  package static func blob(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(statement, column),
      count: Int(sqlite3_column_bytes(statement, column))
    )
  }
}
