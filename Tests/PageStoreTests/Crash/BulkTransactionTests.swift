import Glibc
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

/// Transactions that are too large for the log, beside snapshots, with each of their calls failing in turn.
struct BulkTransactionTests {
  enum Shape: CaseIterable {
    /// A value that is too long for a record.
    case longValue
    /// More values than a record holds.
    case manyValues

    var operations: [StoreOperation] {
      switch self {
      case .longValue: Self.oneLongValue
      case .manyValues: Self.seventyValues
      }
    }

    private static let oneLongValue = puts(1, byteCount: 400_000)
    private static let seventyValues = puts(70, byteCount: 64_000)

    private static func puts(_ count: UInt8, byteCount: Int) -> [StoreOperation] {
      var generator = SeededGenerator(seed: 1)
      return (0..<count).map { .put(tree: "large", key: [$0], value: generator.bytes(byteCount)) }
    }
  }

  private func subject() throws -> StoreUnderTest {
    var options = StoreOptions()
    options.pageSize = 4_096
    let subject = StoreUnderTest(options: options, seed: 1)
    try subject.open()
    for shape in [StoreWorkload.Shape.small, .largeValue, .small] { _ = try subject.commit(shape) }
    return subject
  }

  /// How often the transaction makes each call.
  private func calls(_ shape: Shape) throws -> [DiskCall: Int] {
    let subject = try subject()
    let before = subject.disk.statistics
    _ = try subject.commit(shape.operations)
    let after = subject.disk.statistics
    return Dictionary(
      uniqueKeysWithValues: DiskCall.allCases.map { ($0, after.count($0) - before.count($0)) }
    )
  }

  @Test(arguments: Shape.allCases)
  func eachCallFailsInTurn(_ shape: Shape) throws {
    let calls = try calls(shape)
    #expect(calls[.synchronize, default: 0] + calls[.writeDurably, default: 0] >= 2)
    for call in [DiskCall.write, .writeDurably, .synchronize, .allocate] {
      let count = calls[call, default: 0]
      for position in Set([0, count / 2, count - 1]).sorted() where 0..<count ~= position {
        let subject = try subject()
        let required = subject.ledger.model.required
        subject.disk.setFailedSyncBehavior(FailedSyncBehavior.allCases[position % 3])
        subject.disk.inject(DiskFault(call, at: position, .error(EIO)))
        let outcome = try subject.besideSnapshot { try subject.commit(shape.operations) }
        #expect(subject.disk.firedFaultCount == 1)
        // The last write is a second copy of an extent's header, which isn't needed yet: the commit is durable by then.
        let isAfterCommit = call == .write && position == count - 1
        if case .committed = outcome {
          #expect(isAfterCommit, "\(call) \(position): committed")
        } else {
          #expect(subject.ledger.model.required == required)
        }
        if position % 2 == 0 { subject.die() } else { subject.loseThePower(.mixed, seed: UInt64(position)) }
        try subject.open()
        try subject.check(seed: 1)
      }
    }
  }

  @Test(arguments: Shape.allCases)
  func aFullDiskRefusesItAsAWhole(_ shape: Shape) throws {
    let subject = try subject()
    let newest = subject.ledger.model.newest
    subject.disk.setCapacity(subject.disk.content.byteCount)
    let outcome = try subject.besideSnapshot { try subject.commit(shape.operations) }
    guard case .aborted(let error) = outcome else { throw OracleMismatch("\(outcome)") }
    #expect(error.code == .diskFull)
    #expect(subject.ledger.model.newest == newest)
    try subject.check(seed: 1)
    subject.disk.setCapacity(.max)
    guard case .committed = try subject.commit(shape.operations) else {
      throw OracleMismatch("refused with room")
    }
    subject.loseThePower(.allLost, seed: 1)
    try subject.open()
    try subject.check(seed: 1)
  }

  /// Pages that are dead since the last checkpoint make room, as for transactions that go to the log.
  @Test(arguments: Shape.allCases)
  func roomOfWhatDiedIsUsedOnAFullDisk(_ shape: Shape) throws {
    let subject = try subject()
    guard case .committed = try subject.commit(shape.operations) else { throw OracleMismatch("refused") }
    subject.disk.setCapacity(subject.disk.content.byteCount)
    for round in 0..<3 {
      guard case .committed = try subject.commit([.removeRange(tree: "large", range: .all)]) else {
        throw OracleMismatch("a removal is refused")
      }
      let outcome = try subject.commit(shape.operations)
      guard case .committed = outcome else { throw OracleMismatch("round \(round): \(outcome)") }
      try subject.check(seed: 1)
    }
    subject.loseThePower(.allLost, seed: 1)
    try subject.open()
    try subject.check(seed: 1)
  }
}
