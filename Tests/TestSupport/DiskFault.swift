/// The calls of a file that a fault can be put on, and that are counted.
public enum DiskCall: String, CaseIterable, Sendable {
  case read, write, startWriteback, writeDurably, synchronize, allocate, punchHole, truncate

  /// Whether the call changes what a power failure leaves behind.
  public var changes: Bool { self != .read && self != .startWriteback }
}

/// The effect of a failing call.
public enum DiskFailure: Sendable, Hashable {
  /// It returns this `errno`. Of a failing write any part may have reached the page cache.
  case error(Int32)
  /// It transfers less than asked for: half of it, or one byte if `isOneByte`.
  case short(isOneByte: Bool)
  /// It transfers nothing and returns 0.
  case nothing
}

/// A failure of the `position`th call of a kind, counted from 0 at the moment the fault is injected.
public struct DiskFault: Sendable, Hashable {
  public var call: DiskCall
  public var position: Int
  public var failure: DiskFailure
  /// Whether every later call of that kind fails too.
  public var isSticky: Bool

  public init(_ call: DiskCall, at position: Int, _ failure: DiskFailure, isSticky: Bool = false) {
    self.call = call
    self.position = position
    self.failure = failure
    self.isSticky = isSticky
  }
}

/// The state of pages after a failed sync of a file system (A. Rebello and others, "Can Applications Recover from fsync
/// Failures?", USENIX ATC 2020). In each of these cases the next sync may report success.
public enum FailedSyncBehavior: CaseIterable, Sendable {
  /// The pages stay dirty: a later sync writes them.
  case staysDirty
  /// The pages are marked clean: readers see the new bytes, the disk keeps the old ones (ext4, XFS).
  case marksClean
  /// The pages go back to the bytes on the disk (btrfs).
  case reverts
}

/// The number of calls of each kind, and the number of bytes that they transferred.
public struct DiskStatistics: Sendable, Hashable {
  public private(set) var calls: [DiskCall: Int] = [:]
  public private(set) var byteCounts: [DiskCall: UInt64] = [:]

  public init() {}

  /// Returns the number of calls of kind `call`.
  public func count(_ call: DiskCall) -> Int { calls[call, default: 0] }
  /// The bytes that `call` transferred.
  public func byteCount(_ call: DiskCall) -> UInt64 { byteCounts[call, default: 0] }

  mutating func add(_ call: DiskCall) { calls[call, default: 0] += 1 }
  mutating func add(_ call: DiskCall, byteCount: Int) { byteCounts[call, default: 0] += UInt64(byteCount) }
}
