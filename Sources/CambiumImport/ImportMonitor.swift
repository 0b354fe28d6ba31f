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

  /// Does work in a task that is cancelled when the progress is: it may wait for something that never comes.
  ///
  /// The progress is looked at from time to time, because its cancellation handler is the program's.
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
      // The work's own result is returned even after a cancellation: it may have committed before.
      while let result = try await group.next() {
        if let result { return result }
        group.cancelAll()
      }
      throw CancellationError()
    }
  }

  /// Sets the number of units; nil while it isn't known. An import of nothing has one unit: Foundation ends the program when a total becomes 0.
  func expect(_ unitCount: Int?) {
    guard let progress else { return }
    // The progress may be that of an earlier import.
    if !hasBegun.exchange(true, ordering: .relaxed) { progress.completedUnitCount = 0 }
    progress.totalUnitCount = unitCount.map { Int64(max(1, $0)) } ?? -1
  }

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
