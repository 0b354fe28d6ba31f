/// When a commit counts as done.
public enum Durability: UInt8, Sendable, Hashable, CaseIterable {
  /// Synced to the device before `write` returns: it survives a power failure.
  case full = 0
  /// Written, but synced a little later: the store is consistent after a power failure, the last moments may
  /// be missing.
  case relaxed = 1
  /// Never synced until the store is closed or checkpointed. For a whole store only (tests, imports that can be
  /// repeated): a power failure may lose everything since the last checkpoint.
  case none = 2
}

/// How a store is opened.
public struct StoreOptions: Sendable, Hashable {
  /// When a commit counts as done, unless the transaction says otherwise.
  public var durability: Durability = .full
  /// Bytes in a page of a new store: a power of two from 4,096 to 65,536. An existing store keeps its own.
  public var pageSize: Int = 8_192
  /// Opens for reading only: takes the shared lock and writes nothing, not even to recover.
  public var isReadOnly: Bool = false
  /// Creates the file when there is none; otherwise a missing file is an error.
  public var createsIfMissing: Bool = true
  /// Who may read and write the file of a new store, as the bits of its mode, less the process's umask; the owner must be able to. By default
  /// nobody else. An existing store keeps its own.
  public var filePermissions: UInt16 = 0o600
  /// Bytes of log after which a commit starts a checkpoint, which is written beside the commits that follow. They wait for
  /// it only if the log grows to four times as much. Up to the default, a sixteenth of what is stored, or a mebibyte, is the limit if
  /// that is less: the file of a small store stays small. More than the default is taken as it is.
  public var checkpointLogBytes: Int = 16 << 20
  /// Bytes of changed pages that may be in memory and not in the file. A checkpoint starts at half of it; at the whole of it
  /// commits wait. Up to the default, nine sixteenths of what is stored (of a large store, up to seven eighths), or four mebibytes, start one if that is less; more than the
  /// default is taken as it is. While snapshots pin old pages of the file, less starts one: down to a forty-eighth of what is
  /// stored, or a mebibyte. What commits replaced that no sync has made durable yet counts too: a sync starts at an eighth, at a quarter
  /// commits wait for it. Snapshots hold a quarter more at most, and then spill it. Each checkpoint writes every page that was changed, so a small number makes many small changes
  /// dear; a mebibyte is the least.
  public var dirtyMemoryBytes: Int = 256 << 20
  /// Bytes of memory for what could be read from the file again: pages that were read, and leaves that were changed and have
  /// been written since. 64 KiB are the least. Beyond it there are what ``dirtyMemoryBytes`` limits, the branches above
  /// changed leaves, and pages that somebody is reading at the moment.
  public var cacheBytes: Int = 256 << 20

  /// When the store makes its file shorter by itself while it is open; nil for never.
  public var compaction: CompactionPolicy? = CompactionPolicy()

  /// Bytes of the first log extent of a new store: 16 KiB at the least. Those that follow are larger.
  @_spi(Testing) public var initialLogByteCount: Int = 64 << 10

  /// Makes the default options.
  public init() {}

  /// Whether a store that is open with these options does for an opening with others: whether a file may be made is over then.
  func openTheSame(as other: StoreOptions) -> Bool {
    var other = other
    other.createsIfMissing = createsIfMissing
    return self == other
  }
}

/// Limits of the format. Docs/FileFormat.md states them too; a test compares the two.
public enum StoreLimits {
  /// The longest key, in bytes, whatever the page size.
  public static let keyByteCount = 4_096
  /// The longest value, in bytes.
  public static let valueByteCount = Int(UInt32.max)
  /// Values up to this many bytes travel inside the log record; longer ones are written ahead of it.
  public static let loggedValueByteCount = 64 << 10
  /// A transaction whose record would be longer than this is written as a checkpoint.
  public static let logRecordByteCount = 4 << 20
}
