import Cambium
import Synchronization

/// Cancellation and progress of one import.
final class ImportMonitor: Sendable {
  private let progress: Progress?
  private let isCancelledByTask = Atomic(false)
  private let hasBegun = Atomic(false)

  init(_ progress: Progress? = nil) { self.progress = progress }

  var isCancelled: Bool {
    isCancelledByTask.load(ordering: .relaxed) || Task.isCancelled || progress?.isCancelled == true
  }

  func cancel() { isCancelledByTask.store(true, ordering: .relaxed) }

  /// - Throws: `CancellationError` once the import is cancelled.
  func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Runs the work in a task that is cancelled when the progress is cancelled, because the work may wait for
  /// something that never comes.
  ///
  /// The progress is polled, because its cancellation handler belongs to the program.
  func endingWithProgress<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    if progress == nil { return try await body() }
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        while !self.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
        return nil
      }
      // The work's own result is returned even after a cancellation, because the work may have committed before
      // it.
      while let result = try await group.next() {
        if let result { return result }
        group.cancelAll()
      }
      throw CancellationError()
    }
  }

  /// Sets the number of units; nil while it isn't known. An import without records has one unit, because Foundation
  /// terminates the program when a total becomes 0.
  func expect(_ unitCount: Int?) {
    guard let progress else { return }
    // The progress may be that of an earlier import.
    if !hasBegun.exchange(true, ordering: .relaxed) { progress.completedUnitCount = 0 }
    progress.totalUnitCount = unitCount.map { Int64(max(1, $0)) } ?? -1
  }

  func advance(by unitCount: Int = 1) {
    if unitCount > 0 { progress?.completedUnitCount += Int64(unitCount) }
  }

  /// Marks all units as completed, also if fewer were counted.
  func finish(_ unitCount: Int) {
    guard let progress else { return }
    progress.totalUnitCount = Int64(max(1, unitCount))
    progress.completedUnitCount = progress.totalUnitCount
  }
}
