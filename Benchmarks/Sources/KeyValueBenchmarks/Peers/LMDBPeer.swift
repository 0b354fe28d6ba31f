import BenchmarkHarness
import CLMDB

/// LMDB as its documentation shows it: one database, a map larger than the data, synced commits. It has no cache of its
/// own: it reads from the system's cache, whatever cache size is passed.
// Safety: LMDB is made for several threads; what is stored here never changes.
final class LMDBPeer: KeyValuePeer, @unchecked Sendable {
  static let name = "LMDB"
  static let version = "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
  /// It has one writer at a time, behind a lock of its own.
  static let groupsCommits = false

  private let environment: OpaquePointer
  private let database: MDB_dbi

  init(folder: String, isNew: Bool, cacheBytes: Int) throws {
    var environment: OpaquePointer?
    try check(mdb_env_create(&environment))
    guard let environment else { throw PeerError(peer: Self.name, message: "no environment") }
    self.environment = environment
    try check(mdb_env_set_mapsize(environment, 8 << 30))
    try check(mdb_env_open(environment, folder, UInt32(MDB_NORDAHEAD), 0o600))
    database = try Self.openDatabase(environment, isNew: isNew)
  }

  private static func openDatabase(_ environment: OpaquePointer, isNew: Bool) throws -> MDB_dbi {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, isNew ? 0 : UInt32(MDB_RDONLY), &transaction))
    var database: MDB_dbi = 0
    try check(mdb_dbi_open(transaction, nil, isNew ? UInt32(MDB_CREATE) : 0, &database))
    try check(mdb_txn_commit(transaction))
    return database
  }

  func close() { mdb_env_close(environment) }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    let flags = isSorted ? UInt32(MDB_APPEND) : 0
    try write { transaction in
      for number in order { try put(entries, number, 0, in: transaction, flags: flags) }
    }
  }

  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum {
    try read { transaction in
      var sum = Checksum()
      for number in order {
        try entries.withKey(number) { bytes in
          var key = Self.value(bytes)
          var data = MDB_val()
          try check(mdb_get(transaction, database, &key, &data))
          sum.add(UnsafeRawBufferPointer(start: data.mv_data, count: data.mv_size))
        }
      }
      return sum
    }
  }

  func scan() throws -> Checksum {
    try read { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, database, &cursor))
      defer { mdb_cursor_close(cursor) }
      var sum = Checksum()
      var key = MDB_val()
      var data = MDB_val()
      while mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == 0 {
        sum.add(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size))
        sum.add(UnsafeRawBufferPointer(start: data.mv_data, count: data.mv_size))
      }
      return sum
    }
  }

  func put(_ entries: Entries, _ change: Change) throws {
    try write { transaction in
      for number in change.order { try put(entries, number, change.shift, in: transaction, flags: 0) }
    }
  }

  func putEach(_ entries: Entries, _ change: Change) throws {
    for number in change.order {
      try write { transaction in try put(entries, number, change.shift, in: transaction, flags: 0) }
    }
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    try read { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, database, &cursor))
      defer { mdb_cursor_close(cursor) }
      return upper.withUnsafeBytes { upper in
        var limit = Self.value(upper)
        var key = MDB_val()
        var data = MDB_val()
        var found = lower.withUnsafeBytes { lower in
          key = Self.value(lower)
          return mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE)
        }
        var count = 0
        while found == 0, mdb_cmp(transaction, database, &key, &limit) < 0 {
          count += 1
          found = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)
        }
        return count
      }
    }
  }

  private func put(
    _ entries: Entries,
    _ number: Int,
    _ shift: Int,
    in transaction: OpaquePointer,
    flags: UInt32
  ) throws {
    try entries.withChanged(number, shift) { keyBytes, valueBytes in
      var key = Self.value(keyBytes)
      var data = Self.value(valueBytes)
      try check(mdb_put(transaction, database, &key, &data, flags))
    }
  }

  private func write(_ body: (OpaquePointer) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    guard let transaction else { throw PeerError(peer: Self.name, message: "no transaction") }
    do {
      try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
  }

  private func read<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    guard let transaction else { throw PeerError(peer: Self.name, message: "no transaction") }
    defer { mdb_txn_abort(transaction) }
    return try body(transaction)
  }

  private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
    MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

private func check(_ code: Int32) throws {
  guard code == 0 else { throw PeerError(peer: LMDBPeer.name, message: String(cString: mdb_strerror(code))) }
}
