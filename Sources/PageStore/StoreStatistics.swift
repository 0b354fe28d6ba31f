/// Counters of a store's work since it was opened, and its sizes.
public struct StoreStatistics: Sendable, Hashable {
  /// The last commit that readers see.
  public var lastCommit: UInt64 = 0
  /// The commit of the last checkpoint, with which recovery would begin.
  public var checkpointCommit: UInt64 = 0
  /// Checkpoints written since the store was opened.
  public var checkpoints: UInt64 = 0
  /// Bytes of log records, padding included, since the store was opened.
  public var bytesLogged: UInt64 = 0
  /// Bytes written to the file since the store was opened.
  public var bytesWritten: UInt64 = 0
  /// Syncs and durable writes since the store was opened.
  public var syncs: UInt64 = 0
  /// Pages that checkpoints have written since the store was opened.
  public var pagesWritten: UInt64 = 0
  /// Bytes of the pages that compaction has packed or moved since the store was opened.
  public var bytesCompacted: UInt64 = 0
  /// Bytes of log that recovery would have to replay.
  public var logBytes: UInt64 = 0
  /// Bytes of the file that log extents take.
  public var logExtentBytes: UInt64 = 0
  /// The file's size in bytes.
  public var fileBytes: UInt64 = 0
  /// Bytes of pages in memory.
  public var residentBytes: UInt64 = 0
  /// Bytes of pages in memory that could be read from the file again: ``StoreOptions/cacheBytes`` limits
  /// them.
  public var cachedBytes: UInt64 = 0
  /// Lookups of pages that were in memory, since the store was opened.
  public var cacheHits: UInt64 = 0
  /// Lookups of pages that had to be read from the file, since the store was opened.
  public var cacheMisses: UInt64 = 0
  /// Pages that were evicted to make room for others, since the store was opened.
  public var cacheEvictions: UInt64 = 0
  /// Bytes of dead pages that snapshots still reach, in a file without a name in the store's folder.
  public var spilledBytes: UInt64 = 0
  /// Bytes in a page.
  public var pageSize: Int = 0
  /// Named trees.
  public var trees: Int = 0
  /// Snapshots that are alive.
  public var snapshots: Int = 0
}
