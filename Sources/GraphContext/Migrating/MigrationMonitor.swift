import Foundation
import Synchronization

/// The progress of a change of a store's schema.
public struct MigrationProgress: Sendable, Hashable {
  /// The number of rows (records, or links between objects) that are done so far.
  public let completedRowCount: Int
  /// The number of rows to do.
  public let totalRowCount: Int
  /// The number of the plan's stage that the rows belong to, counted from 1; 1 without a plan.
  public let stageNumber: Int
  /// The number of stages that this opening runs; 1 without a plan.
  public let stageCount: Int
  /// The version that the stage leads to; nil without a plan.
  public let version: Schema.Version?

  init(
    completedRowCount: Int,
    totalRowCount: Int,
    stageNumber: Int = 1,
    stageCount: Int = 1,
    version: Schema.Version? = nil
  ) {
    self.completedRowCount = completedRowCount
    self.totalRowCount = totalRowCount
    self.stageNumber = stageNumber
    self.stageCount = stageCount
    self.version = version
  }

  /// From 0 to 1. Every stage counts the same.
  public var fractionCompleted: Double {
    let stage = totalRowCount == 0 ? 1 : Double(completedRowCount) / Double(totalRowCount)
    return (Double(stageNumber - 1) + stage) / Double(stageCount)
  }
}

/// Watches a change of a store's schema, and can cancel it. A program passes it to the opening of a container, or
/// to ``PersistentContainer/upgradeRecords(monitor:)``.
///
/// ```swift
/// let monitor = MigrationMonitor()
/// Task { for await update in monitor.updates() { show(update.fractionCompleted) } }
/// let container = try await PersistentContainer("Music", models: Song.self, at: url, monitor: monitor)
/// ```
///
/// A change of the catalogue alone takes one commit, and reports nothing in between. A monitor is used once.
public final class MigrationMonitor: Sendable {
  private struct State {
    var newest: MigrationProgress?
    var continuations: [AsyncStream<MigrationProgress>.Continuation] = []
    var isCancelled = false
    var stage = (number: 1, count: 1, version: Schema.Version?.none)
    var effects: [String: MigrationEffect] = [:]
    var isFinished = false
  }

  /// The number of bytes of keys and records that one commit of the change holds; nil for the default of the
  /// store's options.
  let chunkByteCount: Int?
  /// The progress of ``updates()``, for Foundation. The unit is a row; every stage of a plan counts as many rows as
  /// the current stage.
  public let progress: Progress
  private let onReport: (@Sendable (MigrationProgress) -> Void)?
  private let state = Mutex(State())

  /// Makes a monitor; the migration chooses the amount of work between two reports.
  public convenience init() { self.init(chunkByteCount: nil) }

  /// - Parameters:
  ///   - chunkByteCount: nil for the default of the store's options.
  ///   - onReport: called after each commit, on the thread that changes the store.
  package init(chunkByteCount: Int?, onReport: (@Sendable (MigrationProgress) -> Void)? = nil) {
    self.chunkByteCount = chunkByteCount
    self.onReport = onReport
    progress = Progress(totalUnitCount: -1)
    progress.isCancellable = true
    progress.cancellationHandler = { [weak self] in self?.cancel() }
  }

  /// Returns the progress of the change from now on, beginning with the newest step. The sequence ends when the
  /// container is open or failed to open.
  public func updates() -> AsyncStream<MigrationProgress> {
    let (stream, continuation) = AsyncStream<MigrationProgress>.makeStream(
      bufferingPolicy: .bufferingNewest(1)
    )
    state.withLock { state in
      if let newest = state.newest { continuation.yield(newest) }
      if state.isFinished {
        continuation.finish()
      } else {
        state.continuations.append(continuation)
      }
    }
    return stream
  }

  /// The changes that the passes of custom stages have made so far in this opening, by entity.
  public var effects: [MigrationEffect] {
    state.withLock { $0.effects.values.sorted { $0.entity < $1.entity } }
  }

  /// Stops the change after the current commit. The opening throws `cancelled`, the store keeps its old schema, and
  /// a later opening with the same schema continues where this one stopped. If the opening takes the store over
  /// from other containers, these containers keep the store instead, and the change begins anew the next time. Does
  /// nothing after the switch.
  public func cancel() { state.withLock { $0.isCancelled = true } }

  func checkCancellation() throws(ContextError) {
    if state.withLock(\.isCancelled) {
      throw ContextError(.cancelled, "the work was cancelled, and can be continued later")
    }
  }

  /// Notes that a stage of a plan begins.
  func begin(stage number: Int, of count: Int, to version: Schema.Version?) {
    state.withLock { $0.stage = (number, count, version) }
  }

  /// Notes that a batch of a custom stage was saved.
  func note(_ effects: [MigrationEffect]) {
    state.withLock { state in
      for effect in effects {
        if state.effects[effect.entity]?.add(effect) == nil { state.effects[effect.entity] = effect }
      }
    }
  }

  func report(completedRowCount: Int, totalRowCount: Int) {
    let stage = state.withLock(\.stage)
    let newest = MigrationProgress(
      completedRowCount: completedRowCount,
      totalRowCount: totalRowCount,
      stageNumber: stage.number,
      stageCount: stage.count,
      version: stage.version
    )
    progress.totalUnitCount = Int64(totalRowCount * stage.count)
    progress.completedUnitCount = Int64(totalRowCount * (stage.number - 1) + completedRowCount)
    let continuations = state.withLock { state in
      state.newest = newest
      return state.continuations
    }
    for continuation in continuations { continuation.yield(newest) }
    onReport?(newest)
  }

  /// Ends the sequences of updates.
  func finish() {
    let continuations = state.withLock { state in
      state.isFinished = true
      defer { state.continuations = [] }
      return state.continuations
    }
    for continuation in continuations { continuation.finish() }
  }
}

@_spi(Testing)
extension MigrationMonitor {
  /// Makes a monitor of a change whose commits have about a given number of bytes: for tests that crash the change.
  ///
  /// - Parameter onReport: called after each commit, on the thread that changes the store.
  public static func inChunks(
    of byteCount: Int,
    onReport: @escaping @Sendable (MigrationProgress) -> Void
  ) -> MigrationMonitor {
    MigrationMonitor(chunkByteCount: byteCount, onReport: onReport)
  }
}
