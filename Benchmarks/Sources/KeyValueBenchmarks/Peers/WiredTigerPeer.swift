import BenchmarkHarness
import CWiredTiger
import Glibc
import Synchronization

/// WiredTiger: one table, a log that every commit syncs, checkpoints each minute.
final class WiredTigerPeer: KeyValuePeer {
  static let name = "WiredTiger"
  static var version: String {
    // “WiredTiger 3.2.1: (August 27, 2019)”
    let words = String(cString: cwt_version()).split(separator: " ")
    return words.count > 1 ? String(words[1].prefix { $0 != ":" }) : "unknown"
  }
  static let groupsCommits = true

  private static let table = "table:entry"
  // One transaction changes the whole table, so most of the cache has to be allowed to be dirty.
  private static let configuration = """
    eviction_dirty_target=80,eviction_dirty_trigger=95,checkpoint=(wait=60),\
    log=(enabled=true),transaction_sync=(enabled=true,method=fsync)
    """

  private let state: Mutex<State>

  init(folder: String, isNew: Bool, cacheBytes: Int) throws {
    var connection: OpaquePointer?
    let configuration = Self.configuration + ",cache_size=\(cacheBytes)" + (isNew ? ",create" : "")
    try check(cwt_open(folder, configuration, &connection))
    state = Mutex(State(connection: connection))
    if isNew {
      try withSession { session in
        try check(cwt_create(session, Self.table, "key_format=u,value_format=u"))
      }
    }
  }

  func close() throws {
    try state.withLock { state in
      state.idle = []
      try check(cwt_close(state.connection))
    }
  }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    guard isSorted else { return try put(entries, Change(order: order[...], shift: 0)) }
    // A bulk cursor writes past the log; the checkpoint makes it durable.
    try withSession { session in
      try withCursor(session, "bulk") { cursor in
        for number in order { try Self.put(entries, number, 0, cursor) }
      }
      try check(cwt_checkpoint(session))
    }
  }

  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum {
    try reading { cursor in
      var sum = Checksum()
      for number in order {
        try entries.withKey(number) { key in
          var value = cwt_bytes()
          try check(cwt_get(cursor, cwt_bytes(key), &value))
          sum.add(UnsafeRawBufferPointer(value))
        }
      }
      return sum
    }
  }

  func scan() throws -> Checksum {
    try reading { cursor in
      var sum = Checksum()
      var key = cwt_bytes()
      var value = cwt_bytes()
      while try isFound(cwt_next(cursor, &key, &value)) {
        sum.add(UnsafeRawBufferPointer(key))
        sum.add(UnsafeRawBufferPointer(value))
      }
      return sum
    }
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    try reading { cursor in
      try upper.withUnsafeBytes { upper in
        var key = cwt_bytes()
        var isInside = try lower.withUnsafeBytes { try isFound(cwt_seek(cursor, cwt_bytes($0), &key)) }
        var count = 0
        while isInside, UnsafeRawBufferPointer(key).isBelow(upper) {
          count += 1
          isInside = try isFound(cwt_next_key(cursor, &key))
        }
        return count
      }
    }
  }

  func put(_ entries: Entries, _ change: Change) throws {
    try withSession { session in
      try withCursor(session) { cursor in
        try check(cwt_begin(session))
        for number in change.order { try Self.put(entries, number, change.shift, cursor) }
        try check(cwt_commit(session))
      }
    }
  }

  func putEach(_ entries: Entries, _ change: Change) throws {
    try withSession { session in
      try withCursor(session) { cursor in
        for number in change.order {
          try check(cwt_begin(session))
          try Self.put(entries, number, change.shift, cursor)
          try check(cwt_commit(session))
        }
      }
    }
  }

  private static func put(_ entries: Entries, _ number: Int, _ shift: Int, _ cursor: OpaquePointer?) throws {
    try entries.withChanged(number, shift) { key, value in
      try check(cwt_put(cursor, cwt_bytes(key), cwt_bytes(value)))
    }
  }

  // MARK: Sessions

  // Safety: behind the lock. A session is either in here or with the one thread that took it out.
  private struct State: @unchecked Sendable {
    let connection: OpaquePointer?
    var idle: [OpaquePointer?] = []
  }

  private struct Session: @unchecked Sendable {
    // Safety: with one thread at a time, see `State`.
    let pointer: OpaquePointer?
  }

  private func withSession<R>(_ body: (OpaquePointer?) throws -> R) throws -> R {
    let session = try state.withLock { state in
      if let idle = state.idle.popLast() { return Session(pointer: idle) }
      var session: OpaquePointer?
      try check(cwt_session_open(state.connection, &session))
      return Session(pointer: session)
    }
    defer { state.withLock { $0.idle.append(session.pointer) } }
    return try body(session.pointer)
  }

  private func withCursor<R>(
    _ session: OpaquePointer?,
    _ configuration: String? = nil,
    _ body: (OpaquePointer?) throws -> R
  ) throws -> R {
    var cursor: OpaquePointer?
    try check(cwt_cursor_open(session, Self.table, configuration, &cursor))
    defer { cwt_cursor_close(cursor) }
    return try body(cursor)
  }

  private func reading<R>(_ body: (OpaquePointer?) throws -> R) throws -> R {
    try withSession { session in
      try withCursor(session) { cursor in
        try check(cwt_begin(session))
        defer { cwt_rollback(session) }
        return try body(cursor)
      }
    }
  }
}

private func check(_ code: Int32) throws {
  guard code == 0 else {
    throw PeerError(peer: WiredTigerPeer.name, message: String(cString: cwt_error_text(code)))
  }
}

/// False past the last entry.
private func isFound(_ code: Int32) throws -> Bool {
  if code == cwt_not_found() { return false }
  try check(code)
  return true
}

extension cwt_bytes {
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(bytes: bytes.baseAddress, count: bytes.count)
  }
}

extension UnsafeRawBufferPointer {
  fileprivate init(_ bytes: cwt_bytes) { self.init(start: bytes.bytes, count: bytes.count) }

  fileprivate func isBelow(_ other: UnsafeRawBufferPointer) -> Bool {
    let order = memcmp(baseAddress!, other.baseAddress!, Swift.min(count, other.count))
    return order != 0 ? order < 0 : count < other.count
  }
}
