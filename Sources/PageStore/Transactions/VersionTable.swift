import Synchronization

/// Which versions there are: the newest committed, the newest that readers may see, the newest that would survive a
/// power failure, and those that snapshots hold.
///
/// durable ≤ published ≤ latest. They differ only while commits wait for their sync: the next writer already builds on
/// `latest`, but nobody sees what a failed sync could still take back. Relaxed commits are published when they are
/// written, and are taken back with the rest if their sync fails.
final class VersionTable: Sendable {
  private struct State {
    var durable: Version
    var published: Version
    var latest: Version
    /// Versions after `durable`, oldest first.
    var queue: [Version] = []
    /// How many snapshots hold each generation, oldest first.
    var pins: [(generation: UInt64, count: Int)] = []
  }
  private let state: Mutex<State>

  init(_ version: Version) {
    state = Mutex(State(durable: version, published: version, latest: version))
  }

  /// What the next writer builds on.
  var latest: Version { state.withLock { $0.latest } }
  /// What readers see.
  var published: Version { state.withLock { $0.published } }

  /// Queues a version whose record has been appended to the log.
  func append(_ version: Version) {
    state.withLock {
      $0.latest = version
      $0.queue.append(version)
    }
  }

  /// Takes note of what the log has written and synced.
  func advance(written: UInt64, durable: UInt64) {
    state.withLock { state in
      var survivors = 0
      for version in state.queue {
        let reached = version.durability == .full ? durable : written
        guard version.sequence <= reached else { break }
        state.published = version
        // A store that never syncs has nothing else to return to.
        if version.durability == .none || version.sequence <= durable {
          state.durable = version
          survivors += 1
        }
      }
      state.queue.removeFirst(survivors)
    }
  }

  /// After a failed write or sync: only what is durable remains.
  func fallBack() {
    state.withLock { state in
      state.published = state.durable
      state.latest = state.durable
      state.queue.removeAll()
    }
  }

  /// A checkpoint's version: durable by itself, with nothing queued.
  func install(_ version: Version) {
    state.withLock { state in
      state.durable = version
      state.published = version
      state.latest = version
      state.queue.removeAll()
    }
  }

  /// The published version, held until ``unpin(_:)``.
  func pin() -> Version {
    state.withLock { state in
      let version = state.published
      Self.add(version.generation, to: &state.pins)
      return version
    }
  }

  /// The newest version, seen or not, held until ``unpin(_:)``.
  func pinLatest() -> Version {
    state.withLock { state in
      Self.add(state.latest.generation, to: &state.pins)
      return state.latest
    }
  }

  /// Pins are nearly always taken at the newest generation; after a fall-back they may be of an older one.
  private static func add(_ generation: UInt64, to pins: inout [(generation: UInt64, count: Int)]) {
    guard let index = pins.lastIndex(where: { $0.generation <= generation }) else {
      pins.insert((generation, 1), at: 0)
      return
    }
    if pins[index].generation == generation {
      pins[index].count += 1
    } else {
      pins.insert((generation, 1), at: index + 1)
    }
  }

  func unpin(_ version: Version) {
    state.withLock { state in
      guard let index = state.pins.firstIndex(where: { $0.generation == version.generation }) else { return }
      state.pins[index].count -= 1
      if state.pins[index].count == 0 { state.pins.remove(at: index) }
    }
  }

  /// The oldest generation that anybody may still read.
  var oldestGeneration: UInt64 {
    state.withLock { min($0.durable.generation, $0.pins.first?.generation ?? .max) }
  }

  var pinnedSnapshotCount: Int { state.withLock { $0.pins.reduce(0) { $0 + $1.count } } }
}
