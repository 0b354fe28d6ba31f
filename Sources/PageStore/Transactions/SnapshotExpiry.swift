import Synchronization

/// Says to those who read from a snapshot whether its time is over.
///
/// Pages of a version whose snapshot has expired are used again like those that no snapshot reaches. Readers take no lock, so the
/// order is what makes that safe: the word is set first; every walk begins by naming its epoch (``ReaderTable``), and looks at the word
/// only then. When nobody reads any more who began before the word was set, nobody reads the version at all. What a
/// cursor or a value's reader still names by its address stays until it lets go.
final class SnapshotExpiry: Sendable {
  // Safety: allocated for this object's life, and only touched atomically. Whoever has the address keeps the snapshot alive, which
  // keeps this.
  nonisolated(unsafe) let word: UnsafeMutablePointer<Atomic<Bool>>
  let deadline: ContinuousClock.Instant

  init(deadline: ContinuousClock.Instant) {
    self.deadline = deadline
    word = .allocate(capacity: 1)
    word.initialize(to: Atomic(false))
  }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  var hasExpired: Bool { word.pointee.load(ordering: .acquiring) }

  func expire() { word.pointee.store(true, ordering: .sequentiallyConsistent) }
}

extension StoreError {
  /// Not inlined: it would take room in every lookup.
  static var snapshotExpired: StoreError {
    @inline(never)
    get {
      StoreError(.snapshotExpired, "the snapshot was held for longer than its lifetime; take another")
    }
  }
}

extension SharedStore {
  /// Sees to it that a snapshot expires at its time, even if nobody commits then.
  func expireLater() {
    guard let due = versions.takeNextDeadline() else { return }
    environment.schedule((due - .now).wholeMilliseconds + 1) { [weak self] in
      guard let self, (try? file.checkOpen()) != nil else { return }
      committer.state.withLock { committer.reclaimUnread() }
      versions.noteTimerFired(due)
      expireLater()
    }
  }
}
