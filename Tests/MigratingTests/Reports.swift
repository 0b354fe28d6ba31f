import Synchronization

@testable import GraphContext

/// The reports that a monitor has received, and the number of reports after which it cancels the change.
final class Reports: Sendable {
  private let counts = Mutex<[Int]>([])
  private let cancelledMonitor = Mutex<MigrationMonitor?>(nil)
  private let chunkByteCount: Int

  init(chunkByteCount: Int = 2_000) { self.chunkByteCount = chunkByteCount }

  var first: Int { counts.withLock { $0.first ?? 0 } }
  var last: Int { counts.withLock { $0.last ?? 0 } }

  /// A monitor of a change in small commits.
  func monitor(cancellingAfter limit: Int = .max) -> MigrationMonitor {
    let monitor = MigrationMonitor(chunkByteCount: chunkByteCount) { [self] report in
      let count = counts.withLock { counts in
        counts.append(report.completedRowCount)
        return counts.count
      }
      if count == limit { cancelledMonitor.withLock { $0?.cancel() } }
    }
    cancelledMonitor.withLock { $0 = monitor }
    return monitor
  }
}
