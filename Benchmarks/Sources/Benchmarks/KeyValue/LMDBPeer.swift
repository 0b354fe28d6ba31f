import CLMDB
import Foundation

/// LMDB as its documentation shows it: one database, a map larger than the data, synced commits.
final class LMDBPeer: KeyValuePeer {
  static let name = "LMDB"

  private let environment: OpaquePointer
  private var database: MDB_dbi = 0

  init(folder: String) throws {
    var environment: OpaquePointer?
    try check(mdb_env_create(&environment))
    guard let environment else { throw PeerError(peer: Self.name, message: "no environment") }
    self.environment = environment
    try check(mdb_env_set_mapsize(environment, 8 << 30))
    try check(mdb_env_open(environment, folder, UInt32(MDB_NORDAHEAD), 0o600))
    try write { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE), &database))
    }
  }

  deinit { mdb_env_close(environment) }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    let flags = isSorted ? UInt32(MDB_APPEND) : 0
    try write { transaction in
      for number in order { try put(entries, number, in: transaction, flags: flags) }
    }
  }

  func get(_ entries: Entries, order: [Int]) throws -> Checksum {
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

  func putEach(_ entries: Entries, order: ArraySlice<Int>) throws {
    for number in order {
      try write { transaction in try put(entries, number, in: transaction, flags: 0) }
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

  private func put(_ entries: Entries, _ number: Int, in transaction: OpaquePointer, flags: UInt32) throws {
    try entries.withKey(number) { keyBytes in
      try entries.withValue(number) { valueBytes in
        var key = Self.value(keyBytes)
        var data = Self.value(valueBytes)
        try check(mdb_put(transaction, database, &key, &data, flags))
      }
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
