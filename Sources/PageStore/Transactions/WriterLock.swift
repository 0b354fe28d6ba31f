import CLinux
import Glibc
import Synchronization

/// Who may write: one thread at a time.
///
/// Most transactions take less time than waking a thread. So a turn that is given back is free for whoever asks first, and
/// a thread that finds it taken spins for a few microseconds before it goes to sleep. The one that has slept longest is
/// woken meanwhile, to try again; if it was passed over ``bypassLimit`` times, it gets the turn handed over. So a thread
/// waits for no more than `bypassLimit + 1` turns for itself and each of those that slept when it came.
///
/// A thread that has waited can leave the turn to a ``TurnReservation``, which a thread that must not wait claims later.
// Safety: everything mutable is only touched with the monitor's lock held, except the atomic hint.
final class WriterLock: @unchecked Sendable {
  private final class Waiter {
    let condition = Monitor.Condition()
    let thread = pthread_self()
    /// Whether the turn was handed over to it.
    var isServed = false
    /// Whether it has been woken and hasn't had the lock since.
    var isWoken = false
    /// How often somebody else took the turn while it was the first in the queue.
    var bypassCount = 0
  }

  /// So often can others take the turn before the first in the queue.
  static let bypassLimit = 16
  private static let longestSpin = 512
  private static let shortestSpin = 8
  /// With one processor, nobody gives the turn back while somebody spins. Asked for when two threads meet for the first time: the
  /// system reads a file for it.
  private static let longestUsefulSpin = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? longestSpin : 0

  private enum Holder {
    case thread(pthread_t)
    /// No thread writes until the reservation is claimed. From `expiry` on, any thread may take the turn.
    case reservation(TurnReservation, expiry: timespec)
  }

  private let monitor = Monitor()
  private var holder: Holder?
  private var reservationCount: UInt64 = 0
  /// In the order they came. If nobody has the turn, the first one is on its way.
  private var waiting: [Waiter] = []
  /// How long it is worth while to spin: twice as long as last time if that helped, half as long if it didn't.
  private lazy var spin = Self.longestUsefulSpin
  private var isSpinning = false
  /// What ``holder`` says, for the one who spins.
  private let isFree = Atomic(true)

  /// Waits for the turn. Throws `nestedWrite` if this thread has it already, for it would wait for itself; `timedOut` if
  /// `timeout` passes first.
  func acquire(timeout: Duration? = nil) throws(StoreError) {
    monitor.lock()
    defer { monitor.unlock() }
    if case .thread(let thread) = holder, pthread_equal(thread, pthread_self()) != 0 {
      throw StoreError(.nestedWrite, "a write transaction of this thread is still going on")
    }
    if takeIfFree() || takeBySpinning() { return }
    let waiter = Waiter()
    waiting.append(waiter)
    let deadline = timeout.map(Self.time(after:))
    while true {
      let isInTime = sleep(waiter, until: deadline)
      if waiter.isServed { return }
      waiter.isWoken = false
      let isTaken = takeIfFree(waiter)
      guard isTaken || !isInTime else { continue }
      waiting.removeAll { $0 === waiter }
      if isTaken { return }
      // The next one may have to watch a reservation.
      wakeFirst()
      throw StoreError(.timedOut, "others have been writing for too long")
    }
  }

  /// Sleeps until woken, or until a reservation ends that keeps the first in the queue waiting. False when the deadline
  /// has passed. Called with the lock held, which it gives up meanwhile.
  private func sleep(_ waiter: Waiter, until deadline: timespec?) -> Bool {
    var alarm = deadline
    if case .reservation(_, let expiry) = holder, waiting.first === waiter {
      alarm = alarm.map { Self.isBefore($0, expiry) ? $0 : expiry } ?? expiry
    }
    guard let alarm else {
      monitor.wait(on: waiter.condition)
      return true
    }
    if monitor.wait(on: waiter.condition, until: alarm) { return true }
    return deadline.map { Self.isBefore(Self.now(), $0) } ?? true
  }

  /// Takes the turn if nobody has it; never waits.
  func acquireIfFree() -> Bool { monitor.withLock { takeIfFree() } }

  /// Returns when nobody sleeps until it gets the turn, or after some time: for work that can wait.
  func letOthersGoFirst(for limit: Duration) {
    guard sleeperCount > 0 else { return }
    let end = ContinuousClock.now + limit
    while sleeperCount > 0, ContinuousClock.now < end { usleep(50) }
  }

  /// Threads that sleep until they get the turn.
  var sleeperCount: Int { monitor.withLock { waiting.count } }

  /// Gives the turn back, or hands it to the one who was passed over too often.
  func release() {
    monitor.lock()
    guard let first = waiting.first else {
      free()
      monitor.unlock()
      return
    }
    var wakes = !first.isWoken
    if first.bypassCount >= Self.bypassLimit {
      waiting.removeFirst()
      first.isServed = true
      holder = .thread(first.thread)
      wakes = true
    } else {
      first.isWoken = true
      free()
    }
    monitor.unlock()
    if wakes { first.condition.wakeOne() }
  }

  /// Called with the lock held.
  private func wakeFirst() {
    guard let first = waiting.first, !first.isWoken else { return }
    first.isWoken = true
    first.condition.wakeOne()
  }

  private func free() {
    holder = nil
    isFree.store(true, ordering: .relaxed)
  }

  /// Called with the lock held.
  private func takeIfFree(_ waiter: Waiter? = nil) -> Bool {
    switch holder {
    case .thread: return false
    case .reservation(_, let expiry) where Self.isBefore(Self.now(), expiry): return false
    case .reservation, nil: break
    }
    holder = .thread(pthread_self())
    isFree.store(false, ordering: .relaxed)
    if let first = waiting.first, first !== waiter { first.bypassCount += 1 }
    return true
  }

  /// Called with the lock held, which it gives up meanwhile. One thread spins at a time.
  private func takeBySpinning() -> Bool {
    guard !isSpinning, spin > 0 else { return false }
    isSpinning = true
    var rest = spin
    monitor.unlock()
    while rest > 0, !isFree.load(ordering: .relaxed) {
      clinux_relax()
      rest -= 1
    }
    monitor.lock()
    isSpinning = false
    let isTaken = takeIfFree()
    spin = isTaken ? min(2 * spin, Self.longestSpin) : max(spin / 2, Self.shortestSpin)
    return isTaken
  }

  // MARK: Reservations

  /// Leaves the turn, which this thread has, to whoever claims the reservation. Others take the turn when they have waited
  /// for that as long as `patience` says.
  func reserve(patience: Duration) -> TurnReservation {
    monitor.withLock {
      reservationCount += 1
      let reservation = TurnReservation(number: reservationCount)
      holder = .reservation(reservation, expiry: Self.time(after: patience))
      wakeFirst()
      return reservation
    }
  }

  /// Takes the reserved turn; false if another thread has taken it because the reservation had ended. Never waits.
  func claim(_ reservation: TurnReservation) -> Bool {
    monitor.withLock {
      guard case .reservation(reservation, _) = holder else { return false }
      holder = .thread(pthread_self())
      return true
    }
  }

  /// Gives the reserved turn back, unless it was claimed or the reservation has ended.
  func cancel(_ reservation: TurnReservation) {
    if claim(reservation) { release() }
  }

  // MARK: Time

  private static func now() -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time
  }

  private static func time(after duration: Duration) -> timespec {
    var time = now()
    // A year is as good as any longer time, and can be added to any moment.
    let (seconds, attoseconds) = min(max(duration, .zero), .seconds(31_536_000)).components
    time.tv_sec += Int(seconds)
    time.tv_nsec += Int(attoseconds / 1_000_000_000)
    if time.tv_nsec >= 1_000_000_000 {
      time.tv_sec += 1
      time.tv_nsec -= 1_000_000_000
    }
    return time
  }

  private static func isBefore(_ first: timespec, _ second: timespec) -> Bool {
    (first.tv_sec, first.tv_nsec) < (second.tv_sec, second.tv_nsec)
  }
}
