import Dispatch
import Foundation
@_spi(Testing) import PageStore
import Synchronization

/// Transactions of several threads that share a write of the log.
///
/// The first one's thread leads. Right before it writes, when it has neither the writer's turn nor any lock, it starts
/// the others one after the other, each when the record of the one before is in the log's buffer: so the order is
/// always the same. A transaction that doesn't get that far is waiting for the leader. The leader then starts no more
/// transactions, and writes.
final class CommitGroup: Sendable {
  private let commits: [CheckedCommit]
  private let outcomes: Mutex<[Result<StoreUnderTest.Outcome, any Error>?]>
  private let ended = DispatchSemaphore(value: 0)
  private let startedCount = Atomic(0)

  /// The time that the leader waits for the record of one of the others.
  private let patience: Duration
  /// A transaction that takes so long hangs.
  private static let limit: DispatchTimeInterval = .seconds(600)

  init(_ commits: [CheckedCommit], patience: Duration) {
    self.patience = patience
    self.commits = commits
    outcomes = Mutex(Array(repeating: nil, count: commits.count))
  }

  /// Makes the transactions; returns the outcome of each that was started.
  func run() throws -> [StoreUnderTest.Outcome] {
    guard let leader = commits.first else { return [] }
    let number = leader.ledger.model.newest + 1
    leader.disk.beforeWrite {
      Self.isRecord($0, of: number)
    } _: { [self] in
      gather()
    }
    start(0)
    // Others are started before the leader ends.
    var joined = 0
    while joined < startedCount.load(ordering: .acquiring) {
      guard ended.wait(timeout: .now() + Self.limit) == .success else {
        throw OracleMismatch("a transaction of a group hangs")
      }
      joined += 1
    }
    leader.disk.clearGate()
    return try outcomes.withLock { $0 }.compactMap { try $0?.get() }
  }

  /// Starts the others, on the leader's thread.
  private func gather() {
    let store = commits[0].store
    for index in commits.indices.dropFirst() {
      let before = store.newestCommit
      let deadline = ContinuousClock.now + patience
      start(index)
      while store.newestCommit == before, outcomes.withLock({ $0[index] == nil }) {
        if ContinuousClock.now > deadline { return }
        usleep(20)
      }
    }
  }

  private func start(_ index: Int) {
    startedCount.add(1, ordering: .acquiringAndReleasing)
    Thread.detachNewThread { [self] in
      let outcome = Result { try commits[index].run() }
      outcomes.withLock { $0[index] = outcome }
      ended.signal()
    }
  }

  /// Returns whether a write begins with the record of this transaction. Docs/FileFormat.md, section 6.
  private static func isRecord(_ bytes: UnsafeRawBufferPointer, of commit: UInt64) -> Bool {
    guard bytes.count >= 64 else { return false }
    let magic = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self).littleEndian
    let number = bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self).littleEndian
    let transaction: UInt8 = 1
    return magic == 0x0152_4C43 && number == commit && bytes[60] == transaction
  }
}
