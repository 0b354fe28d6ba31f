import Foundation
import PageStore
import Predicates
import Synchronization

/// A commit of a store that is held, so that queries can go on reading it while others save: from
/// ``PersistentContainer/pinCommit(lifetime:)``.
///
/// Pages that only an old commit reaches aren't reused while this commit is held: release it when it is no longer
/// needed. Dropping the last reference releases it, too.
public final class PinnedCommit: Sendable, HeldCommit {
  /// The number of the commit.
  public let number: UInt64
  /// The time of the commit.
  public let date: Date
  private let engine: PageStoreEngine
  /// Nil after the release.
  private let snapshot: Mutex<Snapshot?>

  init(_ snapshot: Snapshot, in engine: PageStoreEngine) {
    number = snapshot.commit
    date = Date(timeIntervalSince1970: Double(snapshot.timestamp) / 1_000)
    self.engine = engine
    self.snapshot = Mutex(snapshot)
  }

  /// Stops holding the commit. Running queries finish; later ones throw `commitNotHeld`. Releasing it again does
  /// nothing.
  public func release() {
    // Deallocated with the mutex unlocked.
    let released = snapshot.withLock { $0.take() }
    withExtendedLifetime(released) {}
  }

  /// Makes a separate source that shows the commit.
  ///
  /// - Throws: `commitNotHeld`; `schemaChanged` when another container has taken the store over.
  func source() throws(ContextError) -> any ObjectSource {
    guard let snapshot = snapshot.withLock({ $0 }), !snapshot.hasExpired else {
      throw ContextError(.commitNotHeld, "commit \(number) was released, or its lifetime is over")
    }
    return try engine.source(of: snapshot)
  }

  /// - Throws: `commitNotHeld` for a commit of another store; `schemaChanged` for one that a container holds from
  ///   which the store was taken over.
  func checkIsOf(_ engine: PageStoreEngine) throws(ContextError) {
    if engine === self.engine { return }
    if self.engine.isRetired, engine.store.identifier == self.engine.store.identifier {
      throw ContextError(
        .schemaChanged,
        "commit \(number) was pinned before the store was taken over with other models; pin the newest commit"
      )
    }
    throw ContextError(.commitNotHeld, "commit \(number) is held for a container on another store")
  }
}

extension PersistentContainer {
  /// Holds the newest commit, for ``query(at:_:)``: several queries, at different times, that see one state of the
  /// store. O(1).
  ///
  /// - Parameter lifetime: how long the commit is held at most; nil for no limit. Afterwards reading it throws
  ///   `commitNotHeld`.
  /// - Throws: `closed`; `schemaChanged` when another container has taken the store over.
  public func pinCommit(lifetime: Duration? = nil) throws(ContextError) -> PinnedCommit {
    let snapshot = try ContextError.mapping { () throws(StoreError) in
      try handle.store.snapshot(label: "a pinned commit", lifetime: lifetime)
    }
    _ = try handle.engine.source(of: snapshot)
    return PinnedCommit(snapshot, in: handle.engine)
  }
}
