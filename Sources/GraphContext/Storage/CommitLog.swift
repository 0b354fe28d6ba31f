import Predicates
import Synchronization

/// What recent commits of this process changed, so that a context which moves from one snapshot to another knows which of
/// its objects to look at.
///
/// It may forget, and commits may be missing: whoever asks for more than it knows hears that, and looks at everything.
final class CommitLog: Sendable {
  private struct State {
    /// By commit.
    var summaries: [UInt64: CommitSummary] = [:]
    var oldest: UInt64 = 0
    var numberCount = 0
  }

  private let state = Mutex(State())
  /// Object numbers kept at most, over all commits.
  private let capacity: Int

  init(capacity: Int = 1 << 20) { self.capacity = capacity }

  func append(_ summary: CommitSummary) {
    state.withLock { state in
      if state.summaries.isEmpty { state.oldest = summary.commit }
      state.oldest = min(state.oldest, summary.commit)
      state.summaries[summary.commit] = summary
      state.numberCount += summary.count + 1
      while state.numberCount > capacity, state.summaries.count > 1 {
        if let gone = state.summaries.removeValue(forKey: state.oldest) {
          state.numberCount -= gone.count + 1
        }
        state.oldest += 1
      }
    }
  }

  /// The numbers of the objects that the commits after `base`, up to and including `newest`, changed or removed, by the
  /// entity's ordinal, but for the commit `own`. Nil when one of the commits isn't known.
  func changes(after base: UInt64, through newest: UInt64, except own: UInt64?) -> [[ObjectNumber]]? {
    guard newest > base else { return [] }
    return state.withLock { state in
      var result: [[ObjectNumber]] = []
      for commit in base + 1...newest where commit != own {
        guard let summary = state.summaries[commit] else { return nil }
        if result.isEmpty { result = summary.changed.map { _ in [] } }
        for (ordinal, numbers) in summary.changed.enumerated() { result[ordinal] += numbers }
      }
      return result
    }
  }
}
