import Synchronization

/// Limits what a store writes to make its file shorter by itself to what its program commits or removes: the
/// bytes that a compaction has moved, and a quarter more, are a debt that later changes of the store settle.
/// The quarter is for what log records have besides keys and values.
///
/// Without it, random overwrites of a store whose policy asks for a shorter file than they need would move
/// the whole file after each checkpoint: each page that they change leaves its old place loose, and a change
/// may be a few bytes. Used by one thread at a time (``SharedStore/isCompacting``).
final class CompactionDebt: Sendable {
  private let byteCount = Atomic<UInt64>(0)
  /// Bytes of log, and of live pages, when the debt began.
  private let logged = Atomic<UInt64>(0)
  private let live = Atomic<UInt64>(0)

  /// Whether as many bytes as the debt have been appended to the log since, or added to the live bytes, or
  /// removed from them. Large transactions aren't in the log, and removals are short there.
  func isSettled(logged newLogged: UInt64, live newLive: UInt64) -> Bool {
    let (oldLogged, oldLive) = (logged.load(ordering: .relaxed), live.load(ordering: .relaxed))
    let change = newLive > oldLive ? newLive - oldLive : oldLive - newLive
    return max(newLogged - oldLogged, change) >= byteCount.load(ordering: .relaxed)
  }

  /// Notes a compaction that began at these sizes and has moved `byteCount` bytes.
  func begin(_ byteCount: UInt64, logged: UInt64, live: UInt64) {
    self.byteCount.store(byteCount + byteCount / 4, ordering: .relaxed)
    self.logged.store(logged, ordering: .relaxed)
    self.live.store(live, ordering: .relaxed)
  }
}
