import Cambium
import Synchronization

/// Cancellation and progress of one import.
final class ImportMonitor: Sendable {
  private let progress: Progress?
  private let isCancelledByTask = Atomic(false)

  init(_ progress: Progress? = nil) { self.progress = progress }

  var isCancelled: Bool {
    isCancelledByTask.load(ordering: .relaxed) || Task.isCancelled || progress?.isCancelled == true
  }

  func cancel() { isCancelledByTask.store(true, ordering: .relaxed) }

  /// - Throws: `CancellationError` once the import is cancelled.
  func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Sets the number of units; nil while it isn't known.
  func expect(_ unitCount: Int?) { progress?.totalUnitCount = unitCount.map(Int64.init) ?? -1 }

  func advance(by unitCount: Int = 1) {
    if unitCount > 0 { progress?.completedUnitCount += Int64(unitCount) }
  }

  /// The import is done, whatever was counted.
  func finish(_ unitCount: Int) {
    guard let progress else { return }
    progress.totalUnitCount = Int64(max(1, unitCount))
    progress.completedUnitCount = progress.totalUnitCount
  }
}
