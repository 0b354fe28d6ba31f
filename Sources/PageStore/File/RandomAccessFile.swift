import Glibc
import Logging

/// The system calls a store makes on its file, behind a seam: a real file, memory, or the tests' simulated disk.
///
/// Each function returns what the call returns, or the negated `errno`. Nothing here loops or retries: short
/// transfers and `EINTR` are handled above, once, by ``StoreFile``, so that the tests reach that code too.
@_spi(Testing)
public protocol RandomAccessFile: AnyObject, Sendable {
  /// `pread`: bytes read, 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int
  /// `pwrite`: bytes written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  /// `pwritev2` with `RWF_DSYNC`: bytes written and durable; -EOPNOTSUPP where that can't be had.
  func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int
  /// `fdatasync`.
  func synchronize() -> Int32
  /// The same through another opening of the file, so that a failure is reported to both: the kernel tells each opening
  /// once of what it couldn't write, and whoever else syncs through that one at the same moment is told that all is well.
  func synchronizeApart() -> Int32
  /// `fallocate` mode 0: the range has blocks, and the file is at least that long. -EOPNOTSUPP where it can't.
  func allocate(at offset: UInt64, byteCount: UInt64) -> Int32
  /// `fallocate` with `PUNCH_HOLE`: the range has no blocks any more and reads as zeros; the size stays. -EOPNOTSUPP where it can't.
  func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32
  /// `ftruncate`.
  func truncate(to byteCount: UInt64) -> Int32
  /// `fstat`: the file's size in bytes.
  func byteCount() -> Int64
  /// `lseek` with `SEEK_DATA`: the first byte at or after `offset` that isn't in a hole; -ENXIO if there is none.
  func nextData(from offset: UInt64) -> Int64
  /// The bits of the file's mode that say who may read and write it; nil where there is no such thing.
  var permissions: UInt32? { get }
  /// Whether the file has a name, and no other file is at `path`. True where that can't be told.
  func isFound(at path: String) -> Bool
  /// Closes the file; its locks go with it. Nobody calls anything else at the same time or later. A file that is let go of without it
  /// closes itself.
  func close()
}

extension RandomAccessFile {
  /// A file that keeps its blocks.
  public func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 { -EOPNOTSUPP }

  /// A file that knows of no holes.
  public func nextData(from offset: UInt64) -> Int64 { Int64(offset) }

  /// A file that anybody who has it may use.
  public var permissions: UInt32? { nil }

  /// A file that nobody can take away.
  public func isFound(at path: String) -> Bool { true }

  /// A file whose syncs don't share their failures.
  public func synchronizeApart() -> Int32 { synchronize() }
}

/// The store's sources of everything that a run can't repeat by itself.
@_spi(Testing)
public struct StoreEnvironment: Sendable {
  /// Milliseconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Runs the work once, on some other thread or later on this one, so many milliseconds from now.
  public var schedule: @Sendable (_ milliseconds: Int, _ work: @escaping @Sendable () -> Void) -> Void
  /// Runs the work once, beside whatever the store does meanwhile: a checkpoint.
  public var runConcurrently: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  /// Called at several points of a checkpoint at which others may commit.
  public var duringCheckpoint: @Sendable () -> Void = {}
  /// Makes the name of the store's file durable, where it has one.
  public var synchronizeFolder: @Sendable () throws(StoreError) -> Void = {}
  /// Where events are logged; nil for nowhere.
  public var logger: Logger?
  /// Makes an empty file for pages that are only needed as long as the store is open.
  public var makeSpillFile: @Sendable () throws(StoreError) -> any RandomAccessFile = { MemoryFile() }

  /// Without a `schedule`, work that a store puts off (the sync of relaxed commits, the watermark of an idle
  /// store) waits for the next call that needs it; without `runConcurrently`, a checkpoint is written by the commit that made it
  /// due. That is what a repeatable test wants.
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
