import Glibc

/// An opening of the file, of which the store has two. Each reports a failed write-back once.
enum DiskOpening {
  case first, second

  var other: DiskOpening { self == .first ? .second : .first }
}

/// An action that runs once, when a certain write begins.
struct WriteGate {
  /// Returns whether this is the write that the action waits for.
  var isAwaited: @Sendable (UnsafeRawBufferPointer) -> Bool
  var body: @Sendable () -> Void
}

/// The state of a ``SimulatedDisk``, and the effect of each call on it.
struct DiskState {
  var cached = SparseBytes()
  var durable = SparseBytes()
  var pending: [PendingWrite] = []
  var pendingSizes: [UInt64] = []
  var statistics = DiskStatistics()
  var faults: [(fault: DiskFault, remaining: Int)] = []
  var firedFaults = 0
  var failedSync = FailedSyncBehavior.staysDirty
  var capacity = UInt64.max
  var refusesDurableWrites = false
  var tellsHoles = false
  /// The openings that have yet to report a sync that failed through the other one.
  var untold: Set<DiskOpening> = []
  var observer: (@Sendable (DiskCall, CrashPoint) -> Void)?
  var witness: (@Sendable (CrashPoint) -> Void)?
  var gate: WriteGate?
  var isCut = false

  var crashPoint: CrashPoint {
    CrashPoint(durable: durable, pending: pending, pendingSizes: pendingSizes)
  }
}

extension DiskState {
  typealias Watched = (observer: @Sendable (DiskCall, CrashPoint) -> Void, point: CrashPoint)

  /// Shows the disk to the witness. Returns the observer and the state to show it; nil if there is no observer.
  func watched() -> Watched? {
    witness.map { $0(crashPoint) }
    return observer.map { ($0, crashPoint) }
  }

  /// Counts the call and finds out whether a fault lies on it: how many bytes it may transfer, and its errno.
  mutating func begin(_ call: DiskCall, byteCount: Int) -> (allowed: Int, error: Int32) {
    if isCut { return (0, EIO) }
    statistics.add(call)
    guard let failure = takeFault(call) else { return (byteCount, 0) }
    firedFaults += 1
    switch failure {
    case .error(let errno): return (0, errno)
    case .short(let isOneByte): return (isOneByte ? min(1, byteCount) : (byteCount + 1) / 2, 0)
    case .nothing: return (0, 0)
    }
  }

  private mutating func takeFault(_ call: DiskCall) -> DiskFailure? {
    var failure: DiskFailure?
    for index in faults.indices where faults[index].fault.call == call {
      if faults[index].remaining == 0 {
        failure = faults[index].fault.failure
        if !faults[index].fault.isSticky { faults[index].remaining = -1 }
      } else if faults[index].remaining > 0 {
        faults[index].remaining -= 1
      }
    }
    return failure
  }

  /// Puts bytes into the page cache; returns the call's return value.
  mutating func transfer(
    _ bytes: UnsafeRawBufferPointer,
    at offset: UInt64,
    as call: DiskCall
  ) -> Int {
    var (allowed, error) = begin(call, byteCount: bytes.count)
    if isCut { return -Int(error) }
    if error == 0, offset + UInt64(allowed) > max(capacity, cached.byteCount) {
      (allowed, error) = (0, ENOSPC)
    }
    if error != 0 {
      // Of a write that fails with an I/O error, any part may be in the page cache.
      if error == EIO { put(bytes, count: partOfFailedWrite(bytes.count), at: offset) }
      return -Int(error)
    }
    put(bytes, count: allowed, at: offset)
    statistics.add(call, byteCount: allowed)
    return allowed
  }

  private func partOfFailedWrite(_ count: Int) -> Int {
    let fate = mixed(UInt64(statistics.count(.write)), UInt64(statistics.count(.writeDurably)))
    switch fate % 3 {
    case 0: return 0
    case 1: return count
    default: return Int((fate >> 8) % UInt64(count + 1))
    }
  }

  private mutating func put(_ bytes: UnsafeRawBufferPointer, count: Int, at offset: UInt64) {
    guard count > 0 else { return }
    let part = UnsafeRawBufferPointer(rebasing: bytes[0..<count])
    let oldSize = cached.byteCount
    cached.write(part, at: offset)
    pending.append(PendingWrite(offset: offset, bytes: ArraySlice(part)))
    if cached.byteCount != oldSize { pendingSizes.append(cached.byteCount) }
  }

  mutating func setSize(_ size: UInt64) {
    let old = cached.byteCount
    guard size != old else { return }
    cached.truncate(to: size)
    pendingSizes.append(size)
    if size < old {
      // Until the size is durable the old bytes may come back, or be zeros.
      pending = pending.compactMap { write in
        guard write.range.upperBound > size else { return write }
        return write.offset < size ? write.part(write.offset..<size) : nil
      }
      addZeros(size..<old, as: .cut)
    }
  }

  /// Makes a range read as zeros. Each sector may have the old bytes until that is durable.
  mutating func punchHole(_ range: Range<UInt64>) {
    if isCut || range.isEmpty { return }
    let first = pending.count
    addZeros(range, as: .hole)
    for write in pending[first...] { write.apply(to: &cached) }
  }

  private mutating func addZeros(_ range: Range<UInt64>, as kind: PendingWrite.Kind) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = min(Self.zeros.count, Int(range.upperBound - offset))
      pending.append(PendingWrite(offset: offset, bytes: Self.zeros[..<count], kind: kind))
      offset += UInt64(count)
    }
  }

  /// The bytes that all pending zeros share.
  private static let zeros = [UInt8](repeating: 0, count: 65_536)

  mutating func makeAllDurable() {
    for write in pending { write.apply(to: &durable) }
    durable.truncate(to: cached.byteCount)
    pending = []
    pendingSizes = []
  }

  /// Makes the sectors of `range` durable, and a size that reaches its end.
  mutating func makeDurable(_ range: Range<UInt64>) {
    let size = max(durable.byteCount, range.upperBound)
    forEachPiece(of: range) { $0.apply(to: &durable) }
    forget(range)
    durable.truncate(to: size)
    if cached.byteCount == size { pendingSizes = [] }
  }

  /// Returns whether a sync through `opening` has to fail because one through the other did; it does so once.
  mutating func tell(_ opening: DiskOpening) -> Bool { untold.remove(opening) != nil }

  /// Records that the sync of `range` through `opening` has failed.
  mutating func failSync(_ range: Range<UInt64>, through opening: DiskOpening, _ error: Int32) {
    if error == EIO { untold.insert(opening.other) }
    failWriteback(range)
  }

  /// Has the effect of a failed write of `range` to the device. No opening reports it.
  mutating func failWriteback(_ range: Range<UInt64>) {
    switch failedSync {
    case .staysDirty: break
    case .marksClean: forget(range)
    case .reverts:
      var old = durable
      old.truncate(to: max(cached.byteCount, durable.byteCount))
      forEachPiece(of: range) { cached.overwrite(old.bytes(in: $0.range), at: $0.offset) }
      forget(range)
    }
  }

  private func forEachPiece(of range: Range<UInt64>, _ body: (PendingWrite) -> Void) {
    let range = Self.wholeSectors(range)
    for write in pending where write.range.overlaps(range) {
      body(write.part(write.range.clamped(to: range)))
    }
  }

  private mutating func forget(_ range: Range<UInt64>) {
    let range = Self.wholeSectors(range)
    var kept: [PendingWrite] = []
    for write in pending {
      guard write.range.overlaps(range) else {
        kept.append(write)
        continue
      }
      if write.offset < range.lowerBound { kept.append(write.part(write.offset..<range.lowerBound)) }
      if write.range.upperBound > range.upperBound {
        kept.append(write.part(range.upperBound..<write.range.upperBound))
      }
    }
    pending = kept
  }

  private static func wholeSectors(_ range: Range<UInt64>) -> Range<UInt64> {
    let sector = CrashPoint.sectorByteCount
    let lower = range.lowerBound / sector * sector
    let (end, overflow) = range.upperBound.addingReportingOverflow(sector - 1)
    return lower..<(overflow ? UInt64.max : end / sector * sector)
  }
}
