import Synchronization

/// Tells the readers of a snapshot whether its lifetime has passed.
///
/// Pages of a version whose snapshot has expired are reused like those that no snapshot reaches. Readers take
/// no lock, so this is safe because of the order: the word is set first; every walk begins by storing its
/// epoch (``ReaderTable``), and only then reads the word. When no reader is left that began before the word
/// was set, no reader uses the version. A page or buffer that a cursor or a value's reader protects by its
/// address stays until it is released.
final class SnapshotExpiry: Sendable {
  // Safety: allocated for this object's lifetime, and only touched atomically. Code that has the address
  // keeps the snapshot alive, which keeps this object.
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
  /// Not inlined, because it would make every lookup longer.
  static var snapshotExpired: StoreError {
    @inline(never)
    get {
      StoreError(.snapshotExpired, "the snapshot was held for longer than its lifetime; take another")
    }
  }
}

extension SharedStore {
  /// Schedules the expiry of snapshots, so that it doesn't depend on later commits.
  func expireLater() {
    guard let due = versions.takeNextDeadline() else { return }
    environment.schedule((due - .now).timerMilliseconds + 1) { [weak self] in
      guard let self, (try? file.checkOpen()) != nil else { return }
      committer.state.withLock { committer.reclaimUnread() }
      versions.noteTimerFired(due)
      expireLater()
    }
  }
}
