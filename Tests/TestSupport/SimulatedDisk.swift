import Glibc
@_spi(Testing) import PageStore
import Synchronization

/// A file on a disk whose power can fail.
///
/// It remembers which bytes a sync has made durable and which are only in the page cache. ``crashPoint`` is the state
/// at one moment; its ``CrashPoint/image(_:seed:)`` is what a power failure then leaves. Calls can be made to fail
/// (``inject(_:)``), and each change can be watched (``observe(_:)``).
///
/// Only what the real calls promise is promised: a synced write makes its own sectors durable and the size that they
/// need, nothing else; sectors reach the disk in any order; the size is independent of the bytes.
@_spi(Testing)
public final class SimulatedDisk: RandomAccessFile {
  /// Called after each change has reached the page cache; for a sync twice, while it runs and when it is done.
  public typealias Observer = @Sendable (DiskCall, CrashPoint) -> Void

  private let state: Mutex<DiskState>

  /// A disk that holds `image`, all of it durable: an empty file unless said otherwise.
  public init(_ image: SparseBytes = SparseBytes()) {
    var state = DiskState()
    state.cached = image
    state.durable = image
    self.state = Mutex(state)
  }

  private init(state: consuming DiskState) { self.state = Mutex(state) }

  /// The disk as the next process finds it when this one dies and the machine lives on: the page cache stays.
  /// Faults, observers and counts don't go along.
  public func afterProcessDeath() -> SimulatedDisk {
    state.withLock { old in
      var new = DiskState()
      new.cached = old.cached
      new.durable = old.durable
      new.pending = old.pending
      new.pendingSizes = old.pendingSizes
      new.failedSync = old.failedSync
      return SimulatedDisk(state: new)
    }
  }

  /// The disk at this moment, for the effects of a power failure.
  public var crashPoint: CrashPoint { state.withLock { $0.crashPoint } }
  /// The file as a process sees it.
  public var content: SparseBytes { state.withLock { $0.cached } }
  /// Calls and bytes so far.
  public var statistics: DiskStatistics { state.withLock { $0.statistics } }
  /// The number of calls that failed by an injected fault.
  public var firedFaultCount: Int { state.withLock { $0.firedFaults } }

  /// Makes a call fail; adds to the faults that are there.
  public func inject(_ fault: DiskFault) {
    state.withLock { $0.faults.append((fault, fault.position)) }
  }

  /// Ends every injected fault.
  public func clearFaults() {
    state.withLock { $0.faults = [] }
  }

  /// Sets the state of the pages whose sync fails.
  public func setFailedSyncBehavior(_ behavior: FailedSyncBehavior) {
    state.withLock { $0.failedSync = behavior }
  }

  /// Limits the file's size: a call that would exceed it fails with `ENOSPC`.
  public func setCapacity(_ byteCount: UInt64) {
    state.withLock { $0.capacity = byteCount }
  }

  /// Makes durable writes fail with `EOPNOTSUPP`, as on file systems that don't support them.
  public func refuseDurableWrites() {
    state.withLock { $0.refusesDurableWrites = true }
  }

  /// Makes the disk tell where the file has no data, as file systems with holes do.
  public func tellHoles() {
    state.withLock { $0.tellsHoles = true }
  }

  /// Watches every change from now on; nil ends it.
  public func observe(_ observer: Observer?) {
    state.withLock { $0.observer = observer }
  }

  /// Shows each change to `witness` at the very moment it happens. Other threads' calls wait until it returns, so it
  /// must not call the disk. Nil ends this.
  public func witness(_ witness: (@Sendable (CrashPoint) -> Void)?) {
    state.withLock { $0.witness = witness }
  }

  /// Calls `body` once, when the next write begins for which `isAwaited` returns true. The call is made on the thread
  /// that writes, before any of the write is done. Other threads may use the disk meanwhile.
  public func beforeWrite(
    _ isAwaited: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool,
    _ body: @escaping @Sendable () -> Void
  ) {
    state.withLock { $0.gate = WriteGate(isAwaited: isAwaited, body: body) }
  }

  /// Removes the action that waits for a write.
  public func clearGate() {
    state.withLock { $0.gate = nil }
  }

  /// Lets every call from now on fail with `EIO` and change nothing, and shows it to no observer. A store that is
  /// released without being closed may still make calls, maybe later and on another thread: they have no effect.
  public func cut() {
    state.withLock { state in
      state.isCut = true
      state.observer = nil
      state.witness = nil
    }
  }
}

// MARK: The calls

@_spi(Testing)
extension SimulatedDisk {
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    state.withLock { state in
      let (allowed, error) = state.begin(.read, byteCount: buffer.count)
      if error != 0 { return -Int(error) }
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<allowed])
      let count = state.cached.read(into: target, at: offset)
      state.statistics.add(.read, byteCount: count)
      return count
    }
  }

  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    passGate(bytes)
    let (result, watched) = state.withLock { state in
      let result = state.transfer(bytes, at: offset, as: .write)
      return (result, state.watched())
    }
    watched.map { $0.observer(.write, $0.point) }
    return result
  }

  private func passGate(_ bytes: UnsafeRawBufferPointer) {
    let body = state.withLock { state -> (@Sendable () -> Void)? in
      guard let gate = state.gate, gate.isAwaited(bytes) else { return nil }
      state.gate = nil
      return gate.body
    }
    body?()
  }

  public func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    passGate(bytes)
    if state.withLock({ $0.refusesDurableWrites }) { return Int(-EOPNOTSUPP) }
    let (result, inFlight) = state.withLock { state in
      var result = state.transfer(bytes, at: offset, as: .writeDurably)
      if result > 0, state.tell(.first) { result = -Int(EIO) }
      return (result, state.watched())
    }
    inFlight.map { $0.observer(.writeDurably, $0.point) }
    let done = state.withLock { state in
      let written = offset..<offset + UInt64(max(result, 0))
      if result > 0 { state.makeDurable(written) }
      if result < 0, !state.isCut {
        state.failSync(offset..<offset + UInt64(bytes.count), through: .first, Int32(-result))
      }
      return state.watched()
    }
    done.map { $0.observer(.writeDurably, $0.point) }
    return result
  }

  /// Nothing changes without an error, because unsynced sectors may reach the disk at any time. `EIO` and `ENOSPC` lose
  /// sectors, other errors don't.
  public func startWriteback(at offset: UInt64, byteCount: UInt64) -> Int32 {
    state.withLock { state in
      let (_, error) = state.begin(.startWriteback, byteCount: 0)
      if [EIO, ENOSPC].contains(error), !state.isCut {
        state.failWriteback(offset..<offset + byteCount)
      }
      return -error
    }
  }

  public func synchronize() -> Int32 { synchronize(through: .first) }

  public func synchronizeApart() -> Int32 { synchronize(through: .second) }

  private func synchronize(through opening: DiskOpening) -> Int32 {
    let inFlight = state.withLock { $0.watched() }
    inFlight.map { $0.observer(.synchronize, $0.point) }
    let (result, watched) = state.withLock { state in
      var (_, error) = state.begin(.synchronize, byteCount: 0)
      if error == 0, state.tell(opening) { error = EIO }
      if error == 0 {
        state.makeAllDurable()
      } else if error != EINTR, !state.isCut {
        state.failSync(0..<UInt64.max, through: opening, error)
      }
      return (-error, state.watched())
    }
    watched.map { $0.observer(.synchronize, $0.point) }
    return result
  }

  public func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
    let (result, watched) = state.withLock { state in
      var (_, error) = state.begin(.allocate, byteCount: 0)
      if error == 0, offset + byteCount > state.capacity { error = ENOSPC }
      if error == 0 { state.setSize(max(state.cached.byteCount, offset + byteCount)) }
      return (-error, state.watched())
    }
    watched.map { $0.observer(.allocate, $0.point) }
    return result
  }

  public func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 {
    let (result, watched) = state.withLock { state in
      let (_, error) = state.begin(.punchHole, byteCount: 0)
      // Of a call that fails with an I/O error, any part may have been done.
      let done = error == 0 ? byteCount : error == EIO ? byteCount / 2 : 0
      state.punchHole(offset..<min(offset + done, max(offset, state.cached.byteCount)))
      return (-error, state.watched())
    }
    watched.map { $0.observer(.punchHole, $0.point) }
    return result
  }

  public func truncate(to byteCount: UInt64) -> Int32 {
    let (result, watched) = state.withLock { state in
      var (_, error) = state.begin(.truncate, byteCount: 0)
      if error == 0, byteCount > state.capacity { error = ENOSPC }
      if error == 0 { state.setSize(byteCount) }
      return (-error, state.watched())
    }
    watched.map { $0.observer(.truncate, $0.point) }
    return result
  }

  public func nextData(from offset: UInt64) -> Int64 {
    state.withLock { state in
      if !state.tellsHoles { return Int64(offset) }
      return state.cached.nextData(from: offset).map { Int64($0) } ?? -Int64(ENXIO)
    }
  }

  public func byteCount() -> Int64 { state.withLock { Int64($0.cached.byteCount) } }

  public func close() {}
}
