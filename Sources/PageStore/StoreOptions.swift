/// The moment at which a commit counts as done.
public enum Durability: UInt8, Sendable, Hashable, CaseIterable {
  /// Synced to the device before `write` returns: the commit survives a power failure.
  case full = 0
  /// Written, but synced a little later: after a power failure the store is consistent, but the newest
  /// commits may be missing.
  case relaxed = 1
  /// Never synced until the store is closed or checkpointed. For a whole store only (tests, imports that can
  /// be repeated): a power failure may lose everything since the last checkpoint.
  case none = 2
}

/// The options with which a store is opened.
public struct StoreOptions: Sendable, Hashable {
  /// The moment at which a commit counts as done, unless the transaction says otherwise.
  public var durability: Durability = .full
  /// Bytes in a page of a new store: a power of two from 4,096 to 65,536. An existing store keeps its own.
  public var pageSize: Int = 8_192
  /// True if the store is opened for reading only: the store takes the shared lock of the file and writes
  /// nothing, not even to recover.
  public var isReadOnly: Bool = false
  /// True if the store creates the file when there is none. If false, a missing file is an error.
  public var createsIfMissing: Bool = true
  /// The permission bits of the file of a new store, less the process's umask. The owner must be able to read
  /// and write it; by default no other user can. An existing store keeps its own.
  public var filePermissions: UInt16 = 0o600
  /// Bytes of log after which a commit starts a concurrent checkpoint. Later commits wait for it only if the
  /// log grows to four times as much. Up to the default, the limit is no more than a sixteenth of the stored
  /// bytes, or a mebibyte if that is more, so that the file of a small store stays small. A value above the
  /// default is used as it is.
  public var checkpointLogBytes: Int = 16 << 20
  /// Bytes of changed pages that may be in memory and not in the file; a mebibyte at least. Each checkpoint
  /// writes every changed page, so a small value makes many small changes expensive.
  ///
  /// If no value is set, this is a share of the memory of the machine, or of the smallest limit that a control
  /// group of the process has (`memory.max` and `memory.high`, or `memory.limit_in_bytes` of version 1): a 16th
  /// of up to 4 GiB, 256 MiB of up to 8 GiB, a 32nd of more; 16 MiB at least, a gibibyte at most. A process asks
  /// the system once, when it first needs the number.
  ///
  /// A checkpoint starts at half of these bytes, or at nine sixteenths of the stored bytes (at up to seven
  /// eighths in a large store, at four mebibytes in a small one), whichever comes first. If each commit changes
  /// much, the second limit is higher by up to an eighth of the stored bytes. At all of these bytes, commits
  /// wait. A value of more than a gibibyte is used without regard to the stored bytes. While snapshots pin old
  /// pages of the file, a checkpoint starts earlier: down to a forty-eighth of the stored bytes, or a mebibyte.
  ///
  /// A single transaction may take as many bytes, and in addition the unused bytes of ``cacheBytes``. Beyond
  /// that it writes pages to the file before it is committed, and its commit is synced, whatever its
  /// durability.
  ///
  /// Memory that commits have replaced counts as well until a sync makes these commits durable. A sync starts
  /// at an eighth of these bytes; at a quarter, commits wait for the sync. Snapshots hold another quarter at
  /// most; pages beyond that are spilled to a file.
  public var dirtyMemoryBytes: Int {
    get { dirtyMemory.byteCount }
    set { dirtyMemory = MemoryBudget(chosen: newValue) }
  }
  /// Bytes of memory for pages that could be read from the file again: pages that were read, and leaves that
  /// were changed and have been written since; 64 KiB at least. In addition, a store takes the memory that
  /// ``dirtyMemoryBytes`` limits, and memory for the branches above changed leaves and for pages that are
  /// being read.
  ///
  /// If no value is set, this is the default of ``dirtyMemoryBytes``.
  public var cacheBytes: Int {
    get { cache.byteCount }
    set { cache = MemoryBudget(chosen: newValue) }
  }

  private(set) var dirtyMemory = MemoryBudget()
  private(set) var cache = MemoryBudget()

  /// The policy by which the store makes its file shorter by itself while it is open; nil for never.
  public var compaction: CompactionPolicy? = CompactionPolicy()

  /// Bytes of the first log extent of a new store, 16 KiB at least. Later log extents are larger.
  @_spi(Testing) public var initialLogByteCount: Int = 64 << 10

  /// Bytes of memory that a transaction may take before it writes pages to the file; nil for ``dirtyMemoryBytes``.
  @_spi(Testing) public var transactionByteCount: Int?

  /// Makes the default options.
  public init() {}

  /// Returns whether a store that is open with these options can serve an opening with `other`.
  /// `createsIfMissing` may differ, because the file exists.
  func openTheSame(as other: StoreOptions) -> Bool {
    var other = other
    other.createsIfMissing = createsIfMissing
    return self == other
  }
}

/// Limits of the format. Docs/FileFormat.md states them too; a test compares the two.
public enum StoreLimits {
  /// The longest key, in bytes, for every page size.
  public static let keyByteCount = 4_096
  /// The longest value, in bytes.
  public static let valueByteCount = Int(UInt32.max)
  /// Values up to this many bytes are part of the log record. A transaction with a longer one is written as a
  /// checkpoint.
  public static let loggedValueByteCount = 64 << 10
  /// A transaction whose record would be longer than this is written as a checkpoint.
  public static let logRecordByteCount = 4 << 20
}
