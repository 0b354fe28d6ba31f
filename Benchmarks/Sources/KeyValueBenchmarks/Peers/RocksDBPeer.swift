import BenchmarkHarness
import CRocksDB
import Foundation

/// RocksDB through its C interface: a block cache, Bloom filters, no compression (the values are
/// random), every commit synced.
// Safety: RocksDB is made for several threads; what is stored here never changes.
final class RocksDBPeer: KeyValuePeer, @unchecked Sendable {
  static let name = "RocksDB"
  static var version: String { String(cString: crocksdb_version()) }
  static let groupsCommits = true

  private let folder: String
  private let database: OpaquePointer
  private let options: OpaquePointer
  private let reading = rocksdb_readoptions_create()
  private let writing = rocksdb_writeoptions_create()

  init(folder: String, isNew: Bool, cacheBytes: Int) throws {
    self.folder = folder
    options = try Self.makeOptions(isNew: isNew, cacheBytes: cacheBytes)
    let options = options
    guard let database = try Self.checked({ rocksdb_open(options, folder, $0) }) else {
      throw PeerError(peer: Self.name, message: "cannot open")
    }
    self.database = database
    rocksdb_writeoptions_set_sync(writing, 1)
  }

  private static func makeOptions(isNew: Bool, cacheBytes: Int) throws -> OpaquePointer {
    guard let options = rocksdb_options_create() else { throw PeerError(peer: name, message: "no options") }
    let blocks = rocksdb_block_based_options_create()
    let cache = rocksdb_cache_create_lru(cacheBytes)
    rocksdb_block_based_options_set_block_cache(blocks, cache)
    rocksdb_block_based_options_set_filter_policy(blocks, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_options_set_block_based_table_factory(options, blocks)
    rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
    rocksdb_options_set_create_if_missing(options, isNew ? 1 : 0)
    rocksdb_options_set_recycle_log_file_num(options, 2)
    // The options hold both on.
    rocksdb_block_based_options_destroy(blocks)
    rocksdb_cache_destroy(cache)
    return options
  }

  func close() throws {
    let flushing = rocksdb_flushoptions_create()
    try Self.checked { rocksdb_flush(database, flushing, $0) }
    rocksdb_flushoptions_destroy(flushing)
    rocksdb_close(database)
    rocksdb_readoptions_destroy(reading)
    rocksdb_writeoptions_destroy(writing)
    rocksdb_options_destroy(options)
  }

  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws {
    if isSorted {
      try ingest(entries, order: order)
    } else {
      try put(entries, Change(order: order[...], shift: 0))
    }
  }

  /// Sorted data is written as a table file, which the database then ingests as a whole.
  private func ingest(_ entries: Entries, order: [Int]) throws {
    let path = folder + "/sorted.sst"
    let environment = rocksdb_envoptions_create()
    let writer = rocksdb_sstfilewriter_create(environment, options)
    defer {
      rocksdb_sstfilewriter_destroy(writer)
      rocksdb_envoptions_destroy(environment)
    }
    try Self.checked { rocksdb_sstfilewriter_open(writer, path, $0) }
    for number in order {
      try entries.withChanged(number, 0) { key, value in
        try Self.checked {
          rocksdb_sstfilewriter_put(writer, key.text, key.count, value.text, value.count, $0)
        }
      }
    }
    try Self.checked { rocksdb_sstfilewriter_finish(writer, $0) }
    let ingesting = rocksdb_ingestexternalfileoptions_create()
    defer { rocksdb_ingestexternalfileoptions_destroy(ingesting) }
    rocksdb_ingestexternalfileoptions_set_move_files(ingesting, 1)
    try path.withCString { path in
      var paths: [UnsafePointer<CChar>?] = [path]
      try Self.checked { rocksdb_ingest_external_file(database, &paths, 1, ingesting, $0) }
    }
  }

  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum {
    try withReading { options in
      var sum = Checksum()
      for number in order {
        try entries.withKey(number) { key in
          guard
            let found = try Self.checked({ rocksdb_get_pinned(database, options, key.text, key.count, $0) })
          else { throw PeerError(peer: Self.name, message: "a key is missing") }
          var count = 0
          let start = rocksdb_pinnableslice_value(found, &count)
          sum.add(UnsafeRawBufferPointer(start: start, count: count))
          rocksdb_pinnableslice_destroy(found)
        }
      }
      return sum
    }
  }

  func scan() throws -> Checksum {
    var sum = Checksum()
    try withIterator(reading) { iterator in
      rocksdb_iter_seek_to_first(iterator)
      while rocksdb_iter_valid(iterator) != 0 {
        var count = 0
        let key = rocksdb_iter_key(iterator, &count)
        sum.add(UnsafeRawBufferPointer(start: key, count: count))
        let value = rocksdb_iter_value(iterator, &count)
        sum.add(UnsafeRawBufferPointer(start: value, count: count))
        rocksdb_iter_next(iterator)
      }
    }
    return sum
  }

  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int {
    let options = rocksdb_readoptions_create()
    defer { rocksdb_readoptions_destroy(options) }
    return try upper.withUnsafeBytes { upper in
      rocksdb_readoptions_set_iterate_upper_bound(options, upper.text, upper.count)
      var total = 0
      try withIterator(options) { iterator in
        lower.withUnsafeBytes { rocksdb_iter_seek(iterator, $0.text, $0.count) }
        while rocksdb_iter_valid(iterator) != 0 {
          total += 1
          rocksdb_iter_next(iterator)
        }
      }
      return total
    }
  }

  func put(_ entries: Entries, _ change: Change) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    for number in change.order {
      entries.withChanged(number, change.shift) { key, value in
        rocksdb_writebatch_put(batch, key.text, key.count, value.text, value.count)
      }
    }
    try Self.checked { rocksdb_write(database, writing, batch, $0) }
  }

  func putEach(_ entries: Entries, _ change: Change) throws {
    for number in change.order {
      try entries.withChanged(number, change.shift) { key, value in
        try Self.checked { rocksdb_put(database, writing, key.text, key.count, value.text, value.count, $0) }
      }
    }
  }

  // MARK: The C interface

  /// Options that read from one snapshot, as the other peers do.
  private func withReading<R>(_ body: (OpaquePointer?) throws -> R) throws -> R {
    let options = rocksdb_readoptions_create()
    let snapshot = rocksdb_create_snapshot(database)
    rocksdb_readoptions_set_snapshot(options, snapshot)
    defer {
      rocksdb_readoptions_destroy(options)
      rocksdb_release_snapshot(database, snapshot)
    }
    return try body(options)
  }

  private func withIterator(_ options: OpaquePointer?, _ body: (OpaquePointer?) -> Void) throws {
    let iterator = rocksdb_create_iterator(database, options)
    defer { rocksdb_iter_destroy(iterator) }
    body(iterator)
    try Self.checked { rocksdb_iter_get_error(iterator, $0) }
  }

  @discardableResult
  private static func checked<R>(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) throws -> R {
    var message: UnsafeMutablePointer<CChar>?
    let result = body(&message)
    guard let message else { return result }
    defer { rocksdb_free(message) }
    throw PeerError(peer: name, message: String(cString: message))
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as a pointer for C.
  fileprivate var text: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
