@_spi(Testing) import PageStore

/// A small store's file, each bit of which is flipped, one at a time: it is refused, or shows its old contents.
@_spi(Testing)
public struct FlipTrial: Sendable {
  /// The history of the file.
  public enum Sample: String, CaseIterable, Sendable {
    /// Transactions that shared a write, and then the process died: nothing vouches for the last of them.
    case groupCommit = "group commit, killed"
    /// The same, and more commits, which vouch for them.
    case groupCommitVouchedFor = "group commit, then others, killed"
    /// Commits before, beside and after a checkpoint.
    case concurrentCheckpoint = "concurrent checkpoint, killed"
    /// A transaction that was written as a checkpoint.
    case bulk = "bulk transaction, killed"
    /// One with a record too long for the log. Many megabytes, so only a few of its bits can be flipped.
    case longBulk = "long bulk transaction, killed"
    /// Closed, with the closing mark; then the power failed.
    case closed = "closed, power lost"
    /// Closed, opened again and written to, which took the mark back; then the power failed.
    case reopened = "closed, opened, power lost"
  }

  public let sample: Sample
  public let image: SparseBytes
  private let trial: RotTrial

  private static let sectorByteCount = CrashPoint.sectorByteCount

  public init(_ sample: Sample, seed: UInt64) throws {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.initialLogByteCount = 16 << 10
    let subject = StoreUnderTest(options: options, seed: seed)
    try subject.open()
    for _ in 0..<3 { try Self.commit(on: subject) }
    if sample != .longBulk { try subject.checkpoint() }
    try Self.commit(on: subject)
    var required = try Self.make(sample, subject)
    let newest = subject.ledger.model.newest
    if sample == .closed { required = newest }
    // Unsynced bytes are in the page cache when a process dies, and lost when the power fails.
    if sample == .reopened || sample == .closed {
      subject.loseThePower(.allLost, seed: seed)
    } else {
      subject.die()
    }
    image = subject.disk.content
    var model = subject.ledger.model
    model.requireNothing()
    model.requireAtLeast(required)
    options.createsIfMissing = false
    trial = RotTrial(image, model: model, options: options)
    self.sample = sample
    let sectors = Self.sectors(of: image)
    saidBytes = sectors.flatMap { $0.start..<$0.start + Self.sectorByteCount }
    headerBytes = sectors.flatMap { (start, bytes) in
      Self.headerRanges(bytes).flatMap { start + $0.lowerBound..<start + $0.upperBound }
    }
  }

  /// Makes the sample's history; returns the newest commit that something in the file vouches for.
  private static func make(_ sample: Sample, _ subject: StoreUnderTest) throws -> UInt64 {
    func newest() -> UInt64 { subject.ledger.model.newest }
    switch sample {
    case .groupCommit:
      let vouched = newest()
      try group(on: subject)
      return vouched
    case .groupCommitVouchedFor:
      try group(on: subject)
      for _ in 0..<2 { try commit(on: subject) }
    case .concurrentCheckpoint:
      try subject.checkpointConcurrently { try commit(on: subject) }
      for _ in 0..<2 { try commit(on: subject) }
    case .bulk:
      // A value that goes into pages at once, and not into the log.
      let value = [UInt8](repeating: 0x61, count: StoreLimits.loggedValueByteCount + 1)
      let outcome = try subject.commit([.put(tree: "large", key: [1], value: value)], durability: .full)
      guard case .committed = outcome else { throw OracleMismatch("a large value is refused") }
      return newest()
    case .longBulk:
      try commit(.bulk, on: subject)
      return newest()
    case .closed: try subject.close()
    case .reopened:
      try subject.close()
      try subject.open()
      for _ in 0..<2 { try commit(on: subject) }
    }
    return newest() - 1
  }

  private static func group(on subject: StoreUnderTest) throws {
    // None of them waits for another one, so the patience is for a slow machine.
    let outcomes = try subject.groupCommit(
      [.full, .full, .relaxed, .full],
      changeCounts: 0...0,
      patience: .seconds(10)
    )
    guard outcomes.count == 4 else { throw OracleMismatch("only \(outcomes.count) of 4 commits have met") }
    for case .aborted(let error) in outcomes { throw error }
  }

  private static func commit(_ shape: StoreWorkload.Shape? = nil, on subject: StoreUnderTest) throws {
    let outcome = try shape.map { try subject.commit($0, durability: .full) } ?? subject.commitOneChange()
    guard case .committed = outcome else { throw OracleMismatch("a commit failed on a disk without faults") }
  }

  /// The bytes of all sectors that are not zeros.
  public let saidBytes: [UInt64]
  /// The bytes of headers, anchors and the headers of records.
  public let headerBytes: [UInt64]

  private static func sectors(of image: SparseBytes) -> [(start: UInt64, bytes: [UInt8])] {
    stride(from: 0, to: image.byteCount, by: Int(sectorByteCount))
      .map { ($0, image.bytes(in: $0..<$0 + sectorByteCount)) }
      .filter { $0.1.contains { $0 != 0 } }
  }

  /// Returns the parts of a sector that are headers. Docs/FileFormat.md, sections 1 and 6.
  private static func headerRanges(_ sector: [UInt8]) -> [Range<UInt64>] {
    if sector.starts(with: Array("Cambium".utf8)) { return [0..<136, 504..<512] }
    if sector.dropFirst(8).starts(with: Array("CLR\u{1}".utf8)) { return [0..<64] }
    return []
  }

  /// Opens the file with this bit of a byte flipped. Returns true if that is refused, false if it makes no difference.
  /// Throws an error if the store is wrong.
  public func run(byte: UInt64, bit: Int, seed: UInt64) throws -> Bool {
    var flipped = image
    flipped.overwrite(image.bytes(in: byte..<byte + 1).map { $0 ^ 1 << UInt8(bit) }, at: byte)
    do {
      return try trial.open(flipped, isWide: false, seed: seed)
    } catch {
      throw OracleMismatch("\(sample.rawValue): with bit \(bit) of byte \(byte) flipped: \(error)")
    }
  }
}
