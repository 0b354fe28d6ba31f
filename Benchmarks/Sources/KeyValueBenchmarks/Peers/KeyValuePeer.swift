import BenchmarkHarness

/// A store of the key-value workloads. Each call does a whole workload, so that nothing but the peer's own code and the
/// checksum is inside the loop. Several threads may call at once.
protocol KeyValuePeer: AnyObject, Sendable, SendableMetatype {
  static var name: String { get }
  static var version: String { get }
  /// Whether commits of several threads share a sync; if not, the threads take turns.
  static var groupsCommits: Bool { get }

  /// Opens the store in a folder; makes it there if it is new. Tuned as its documentation advises, every commit synced.
  ///
  /// - Parameter cacheBytes: memory for pages that were read; all of the data if it fits.
  init(folder: String, isNew: Bool, cacheBytes: Int) throws
  /// Leaves a file that needs no recovery. Nothing can be called afterwards.
  func close() throws

  /// Puts the records in the given order in one durable transaction.
  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws
  /// Gets each record's value, in one read transaction.
  func get(_ entries: Entries, order: ArraySlice<Int>) throws -> Checksum
  /// Reads every key and value in order.
  func scan() throws -> Checksum
  /// Returns the number of keys in `lower..<upper`.
  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int

  /// Puts the values in one durable transaction.
  func put(_ entries: Entries, _ change: Change) throws
  /// Puts one value after the other, each in a durable transaction of its own.
  func putEach(_ entries: Entries, _ change: Change) throws

  /// Returns the store's own counts of its writes; nil if it has none.
  func output() throws -> StoreOutput?
}

extension KeyValuePeer {
  /// Opens the store with a cache that holds everything.
  init(folder: String, isNew: Bool) throws {
    try self.init(folder: folder, isNew: isNew, cacheBytes: 1 << 30)
  }

  func output() throws -> StoreOutput? { nil }
}

/// Records that get other values: those of the records `shift` further on.
struct Change: Sendable {
  var order: ArraySlice<Int>
  var shift: Int
}

/// Counted since the store was opened.
struct StoreOutput: Sendable {
  var bytesWritten: UInt64
  var syncs: UInt64
}
