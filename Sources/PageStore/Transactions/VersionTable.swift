import Synchronization

/// The versions of a store: the newest committed, the newest that readers may see, the newest that would
/// survive a power failure, and those that snapshots hold.
///
/// durable ≤ published ≤ latest. They differ only while commits wait for their sync: the next writer builds
/// on `latest`, but readers don't see commits that a failed sync could take back. Relaxed commits are the
/// exception: they are published when they are written, and taken back with the others if their sync fails.
final class VersionTable: Sendable {
  private struct State {
    var durable: Version
    var published: Version
    var latest: Version
    /// Versions after `durable`, oldest first.
    var queue: [Version] = []
    /// The held versions, oldest first.
    var pins: [Pin] = []
    /// The snapshots, in the order in which they were taken.
    var leases: [Lease] = []
    /// The snapshots that have a lifetime, in the same order.
    var limited: [LimitedLease] = []
    var nextLease: UInt64 = 0
    /// The times at which timers fire, latest first. A timer can't be cancelled: an earlier deadline adds
    /// one.
    var timers: [ContinuousClock.Instant] = []
    var takenBackListeners: [@Sendable () -> Void] = []
  }

  /// A held version, and how often it is held. An object, as ``Lease`` is: the standard library has the type
  /// of an array of objects ready, while that of an array of these structs would be made when the first
  /// snapshot is taken.
  // Safety: only touched with `state` locked.
  private final class Pin: @unchecked Sendable {
    let holder: Holder
    var count = 1

    init(_ holder: Holder) { self.holder = holder }
  }

  private let state: Mutex<State>

  init(_ version: Version) {
    state = Mutex(State(durable: version, published: version, latest: version))
  }

  /// The version on which the next writer builds.
  var latest: Version { state.withLock { $0.latest } }
  /// The version that readers see.
  var published: Version { state.withLock { $0.published } }

  /// Adds a version whose record was appended to the log.
  func append(_ version: Version) {
    state.withLock {
      $0.latest.link.append(version.link)
      $0.latest = version
      $0.queue.append(version)
    }
  }

  /// Replaces the newest version, `base`, by one with the same contents. The new version is durable as soon as
  /// `base` is, and published by then. False, with nothing changed, if `base` isn't the newest version any
  /// more, because it was taken back.
  func supersede(_ base: Version, with version: Version) -> Bool {
    state.withLock { state in
      guard state.latest === base else { return false }
      let isDurable = base === state.durable
      state.latest = version
      if isDurable {
        state.durable = version
        state.published = version
      } else {
        state.queue.append(version)
      }
      return true
    }
  }

  /// Publishes versions according to what the log has written and synced.
  func advance(written: UInt64, durable: UInt64) {
    state.withLock { state in
      var survivorCount = 0
      for (index, version) in state.queue.enumerated() {
        let reached = version.durability == .full ? durable : written
        guard version.sequence <= reached else { break }
        state.published = version
        // A store that never syncs has no other version to fall back to.
        if version.durability == .none || version.sequence <= durable {
          state.durable = version
          survivorCount = index + 1
        }
      }
      state.queue.removeFirst(survivorCount)
    }
  }

  /// Falls back to the durable version, after a failed write or sync.
  func fallBack() {
    let listeners = state.withLock { state in
      let wasSeen = state.published !== state.durable
      state.published = state.durable
      state.latest = state.durable
      state.queue.removeAll()
      return wasSeen ? state.takenBackListeners : []
    }
    for listener in listeners { listener() }
  }

  /// Calls `listener` whenever ``fallBack()`` has taken back versions that readers could see.
  func onTakenBack(_ listener: @escaping @Sendable () -> Void) {
    state.withLock { $0.takenBackListeners.append(listener) }
  }

  /// Makes the version of a checkpoint the newest one: it is durable, and no others wait for a sync.
  func install(_ version: Version) {
    state.withLock { state in
      state.latest.link.append(version.link)
      state.durable = version
      state.published = version
      state.latest = version
      state.queue.removeAll()
    }
  }

  /// The data of one snapshot.
  final class Lease: Sendable {
    let number: UInt64
    let holder: Holder
    let label: String
    let since = UptimeInstant.now

    init(_ number: UInt64, _ holder: Holder, _ label: String) {
      self.number = number
      self.holder = holder
      self.label = label
    }
  }

  /// A snapshot that has a lifetime.
  private struct LimitedLease {
    var number: UInt64
    var holder: Holder
    var expiry: SnapshotExpiry
    var stage = Stage.holding

    enum Stage: Equatable {
      case holding
      /// Expired; a reader that began in this epoch or before may still be reading.
      case expiring(since: UInt64)
      /// Expired, and no reader is left.
      case ended
    }
  }

  /// Holds the published version, or the latest one, until ``release(lease:)``, or until the snapshot has
  /// expired.
  func lease(
    _ label: String,
    _ expiry: SnapshotExpiry?,
    ofLatest: Bool = false
  ) -> (version: Version, lease: UInt64) {
    state.withLock { state in
      let version = ofLatest ? state.latest : state.published
      Self.add(version, to: &state.pins)
      let number = state.nextLease
      state.nextLease += 1
      let holder = Holder(generation: version.generation, commit: version.commit)
      state.leases.append(Lease(number, holder, label))
      if let expiry { state.limited.append(LimitedLease(number: number, holder: holder, expiry: expiry)) }
      return (version, number)
    }
  }

  /// Releases the version that a snapshot has held. O(log *n*) to find it among *n* snapshots.
  func release(lease number: UInt64) {
    state.withLock { state in
      let index = state.leases.indices.partitionPoint { state.leases[$0].number >= number }
      let holder = state.leases.remove(at: index).holder
      if let index = state.limited.firstIndex(where: { $0.number == number }) {
        // A snapshot that has ended holds nothing.
        if state.limited.remove(at: index).stage == .ended { return }
      }
      Self.remove(holder, from: &state.pins)
    }
  }

  // MARK: Expiry

  /// Expires snapshots whose lifetime has passed, and releases their versions if no reader uses them.
  func expire(_ readers: ReaderTable) {
    state.withLock { state in
      if state.limited.isEmpty { return }
      let now = ContinuousClock.now
      for index in state.limited.indices where state.limited[index].stage == .holding {
        guard state.limited[index].expiry.deadline <= now else { continue }
        state.limited[index].expiry.expire()
        state.limited[index].stage = .expiring(since: readers.endEpoch())
      }
      let oldest = readers.protection().oldestEpoch
      for index in state.limited.indices {
        guard case .expiring(let epoch) = state.limited[index].stage, epoch < oldest else { continue }
        state.limited[index].stage = .ended
        Self.remove(state.limited[index].holder, from: &state.pins)
      }
    }
  }

  /// True if there are expired snapshots that hold nothing: their cursors may still protect memory by its
  /// address.
  var hasEndedLeases: Bool { state.withLock { $0.limited.contains { $0.stage == .ended } } }

  /// Returns the next deadline, if the caller has to set a timer for it; otherwise nil. If the deadline has
  /// passed while a reader still uses the version, returns a slightly later time.
  func takeNextDeadline() -> ContinuousClock.Instant? {
    state.withLock { state in
      let deadlines = state.limited.lazy.filter { $0.stage != .ended }.map(\.expiry.deadline)
      guard let next = deadlines.min() else { return nil }
      let due = max(next, .now + Self.retryTime)
      if let timer = state.timers.last, timer <= due { return nil }
      state.timers.append(due)
      return due
    }
  }

  /// Notes that the timer for ``takeNextDeadline()`` has fired.
  func noteTimerFired(_ due: ContinuousClock.Instant) {
    state.withLock { state in
      if let index = state.timers.firstIndex(of: due) { state.timers.remove(at: index) }
    }
  }

  private static let retryTime = Duration.milliseconds(10)

  /// The snapshots that are alive, oldest first, and whether each has ended.
  var leases: [(lease: Lease, hasEnded: Bool)] {
    state.withLock { state in
      let ended = Set(state.limited.lazy.filter { $0.stage == .ended }.map(\.number))
      return state.leases.map { ($0, ended.contains($0.number)) }
    }
  }

  /// Holds the newest version, published or not, until ``unpin(_:)``.
  func pinLatest() -> Version {
    state.withLock { state in
      Self.add(state.latest, to: &state.pins)
      return state.latest
    }
  }

  /// Searches from the end: pins are nearly always of the newest generation, except after a fall-back.
  private static func add(_ version: Version, to pins: inout [Pin]) {
    let holder = Holder(generation: version.generation, commit: version.commit)
    guard let index = pins.lastIndex(where: { $0.holder.generation <= holder.generation }) else {
      pins.insert(Pin(holder), at: 0)
      return
    }
    if pins[index].holder == holder {
      pins[index].count += 1
    } else {
      pins.insert(Pin(holder), at: index + 1)
    }
  }

  func unpin(_ version: Version) {
    state.withLock {
      Self.remove(Holder(generation: version.generation, commit: version.commit), from: &$0.pins)
    }
  }

  private static func remove(_ holder: Holder, from pins: inout [Pin]) {
    guard let index = pins.firstIndex(where: { $0.holder.generation == holder.generation }) else { return }
    pins[index].count -= 1
    if pins[index].count == 0 { pins.remove(at: index) }
  }

  /// A version that a snapshot holds.
  struct Holder: Hashable {
    var generation: UInt64
    var commit: UInt64
  }

  /// The versions that may still be read.
  struct Holders {
    /// The generation of the oldest version that stays even if no snapshot holds it.
    var oldestUnheld: UInt64
    /// The held versions, oldest first.
    var held: [Holder]

    /// Returns whether a snapshot holds the version of this generation. O(log n).
    func holds(_ generation: UInt64) -> Bool { newest(before: generation + 1)?.generation == generation }

    /// Returns the newest version that is held and older than `generation`. O(log n).
    func newest(before generation: UInt64) -> Holder? {
      let end = held.indices.partitionPoint { held[$0].generation >= generation }
      return end == 0 ? nil : held[end - 1]
    }
  }

  var holders: Holders {
    state.withLock { Holders(oldestUnheld: $0.durable.generation, held: $0.pins.map(\.holder)) }
  }

  var snapshotCount: Int { state.withLock { $0.leases.count } }
}
