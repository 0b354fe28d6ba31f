import Glibc
import Logging

/// The system calls that a store makes on its file, as a protocol: a real file, memory, or the simulated disk
/// of the tests implements it.
///
/// Each function returns the result of its call, or the negated `errno`. Implementations don't loop or retry:
/// ``StoreFile`` retries interrupted and partial calls, so that the tests reach that code too.
@_spi(Testing)
public protocol RandomAccessFile: AnyObject, Sendable {
  /// `pread`: bytes read, 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  /// `pwrite`: bytes written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  /// `pwritev2` with `RWF_DSYNC`: bytes written and durable; -EOPNOTSUPP if the file system can't do that.
  func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  /// `fdatasync`.
  func synchronize() -> Int32
  /// `fdatasync` through another opening of the file, so that the syncs of both openings report a failure.
  /// The kernel reports a failed write once for each opening. If another thread synced through the same
  /// opening at the same moment, its sync would report success. The opening exists at the latest when
  /// ``startWriteback(at:byteCount:)`` is first called. If no other opening can be had, this one is synced.
  func synchronizeApart() -> Int32
  /// `sync_file_range` with `SYNC_FILE_RANGE_WRITE`: the device begins to write the range's changed bytes.
  /// Makes nothing durable. After an error, bytes of the range may be lost, and it isn't certain that a later
  /// sync reports that.
  func startWriteback(at offset: UInt64, byteCount: UInt64) -> Int32
  /// `fallocate` mode 0: gives the range blocks, and extends the file if it is shorter. -EOPNOTSUPP if the
  /// file system can't do that.
  func allocate(at offset: UInt64, byteCount: UInt64) -> Int32
  /// `fallocate` with `PUNCH_HOLE`: takes the range's blocks, so that it reads as zeros; the size stays.
  /// -EOPNOTSUPP if the file system can't do that.
  func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32
  /// `ftruncate`.
  func truncate(to byteCount: UInt64) -> Int32
  /// `fstat`: the file's size in bytes.
  func byteCount() -> Int64
  /// `lseek` with `SEEK_DATA`: the first byte at or after `offset` that isn't in a hole; -ENXIO if there is
  /// none.
  func nextData(from offset: UInt64) -> Int64
  /// The permission bits of the file's mode; nil if it has none.
  var permissions: UInt32? { get }
  /// Returns whether the file has a name, and no other file is at `path`. True if that can't be determined.
  func isFound(at path: String) -> Bool
  /// Closes the file and releases its locks. No other call is made at the same time or later. A file that is
  /// deallocated without this call closes itself.
  func close()
}

extension RandomAccessFile {
  /// Returns -EOPNOTSUPP: a sync writes everything.
  public func startWriteback(at offset: UInt64, byteCount: UInt64) -> Int32 { -EOPNOTSUPP }

  /// Returns -EOPNOTSUPP: the file keeps its blocks.
  public func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 { -EOPNOTSUPP }

  /// Returns `offset`: the file has no holes.
  public func nextData(from offset: UInt64) -> Int64 { Int64(offset) }

  /// Nil: the file has no mode.
  public var permissions: UInt32? { nil }

  /// Returns true: the file can't be replaced.
  public func isFound(at path: String) -> Bool { true }

  /// Calls ``synchronize()``: the file reports a failure to every caller.
  public func synchronizeApart() -> Int32 { synchronize() }
}

/// The store's sources of everything that isn't repeatable: time, randomness, and work at other moments.
@_spi(Testing)
public struct StoreEnvironment: Sendable {
  /// Milliseconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Runs the work once, after the given number of milliseconds, on another thread or later on this one.
  public var schedule: @Sendable (_ milliseconds: Int, _ work: @escaping @Sendable () -> Void) -> Void
  /// Runs the work, such as a checkpoint, once, concurrently with the store's other work.
  public var runConcurrently: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  /// Called at several points of a concurrent checkpoint at which other threads may commit.
  public var duringCheckpoint: @Sendable () -> Void = {}
  /// Makes the name of the store's file durable, if it has one.
  public var synchronizeFolder: @Sendable () throws(StoreError) -> Void = {}
  /// Bytes of pages that a checkpoint gathers before it writes them.
  public var pageBatchByteCount = 1 << 20
  /// The logger for events; nil for none.
  public var logger: Logger?
  /// Makes an empty file for pages that are only needed as long as the store is open.
  public var makeSpillFile: @Sendable () throws(StoreError) -> any RandomAccessFile = { MemoryFile() }

  /// Without a `schedule`, work that a store puts off (the sync of relaxed commits, the watermark of an idle
  /// store) waits for the next call that needs it. Without `runConcurrently`, the commit that made a
  /// checkpoint due writes the checkpoint. The defaults make tests repeatable.
  public init(
    now: @escaping @Sendable () -> Int64,
    random: @escaping @Sendable () -> UInt64,
    schedule: @escaping @Sendable (Int, @escaping @Sendable () -> Void) -> Void = { _, _ in },
    runConcurrently: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
  ) {
    self.now = now
    self.random = random
    self.schedule = schedule
    self.runConcurrently = runConcurrently
  }
}
