import CLinux
import Glibc
import Synchronization

/// The lock that serialises the writers of a store. One thread at a time holds it, from the beginning of a
/// write transaction to the appending of its record, or for other work that excludes writers; one such
/// holding is a *turn*.
///
/// Most transactions take less time than waking a thread. So a released lock goes to the first thread that
/// asks for it, and a thread that finds it held spins for a few microseconds before it sleeps. A release
/// wakes the thread that has slept longest, to try again; after it was passed over ``bypassLimit`` times, the
/// lock is handed to it. So a thread waits for no more than `bypassLimit + 1` turns for itself and for each
/// of the threads that slept when it came.
///
/// A thread that has waited can leave the lock to a ``TurnReservation``, which a thread that must not wait
/// claims later.
// Safety: mutable state is only touched with `monitor` locked, except the atomic hint.
final class WriterLock: @unchecked Sendable {
  private final class Waiter {
    let condition = Monitor.Condition()
    let thread = pthread_self()
    /// True if the lock was handed to the thread.
    var isServed = false
    /// True if the thread was woken and hasn't locked `monitor` since.
    var isWoken = false
    /// How often another thread took the lock while this one was the first in the queue.
    var bypassCount = 0
  }

  /// How often other threads can take the lock before the first in the queue.
  static let bypassLimit = 16
  private static let longestSpin = 512
  private static let shortestSpin = 8
  /// With one processor, no thread releases the lock while another spins. Evaluated when two threads meet for
  /// the first time: the system reads a file for it.
  private static let longestUsefulSpin = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? longestSpin : 0

  private enum Holder {
    case thread(pthread_t)
    /// No thread writes until the reservation is claimed. From `expiry` on, any thread may take the lock.
    case reservation(TurnReservation, expiry: timespec)
  }

  private let monitor = Monitor()
  private var holder: Holder?
  private var reservationCount: UInt64 = 0
  /// Threads that sleep, in the order in which they came. If the lock is free, the first of them was woken.
  private var waiting: [Waiter] = []
  /// How many rounds to spin: twice as many as last time if that helped, half as many if it didn't.
  private lazy var spin = Self.longestUsefulSpin
  private var isSpinning = false
  /// True if ``holder`` is nil, for the thread that spins without `monitor`.
  private let isFree = Atomic(true)

  /// Waits for the lock. Throws `nestedWrite` if this thread holds it, because that would be a deadlock;
  /// `timedOut` if `timeout` passes first.
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
      // The next waiter may have to watch a reservation.
      wakeFirst()
      throw StoreError(.timedOut, "other transactions held the writer lock until the timeout")
    }
  }

  /// Sleeps until the waiter is woken, or, if it is the first in the queue, until the reservation that it
  /// waits for ends. False when the deadline has passed. Called with `monitor` locked; unlocks it during the
  /// sleep.
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

  /// Takes the lock if it is free. Never waits.
  func acquireIfFree() -> Bool { monitor.withLock { takeIfFree() } }

  /// Waits until no thread sleeps in the queue for the lock, or until `limit` has passed. Used for work that
  /// can wait.
  func letOthersGoFirst(for limit: Duration) {
    guard sleeperCount > 0 else { return }
    let end = ContinuousClock.now + limit
    while sleeperCount > 0, ContinuousClock.now < end { usleep(50) }
  }

  /// The number of threads that sleep in the queue for the lock.
  var sleeperCount: Int { monitor.withLock { waiting.count } }

  /// Releases the lock, or hands it to the first in the queue if that was passed over too often.
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

  /// Wakes the first waiter unless it was woken. Called with `monitor` locked.
  private func wakeFirst() {
    guard let first = waiting.first, !first.isWoken else { return }
    first.isWoken = true
    first.condition.wakeOne()
  }

  /// Makes the lock free. Called with `monitor` locked.
  private func free() {
    holder = nil
    isFree.store(true, ordering: .relaxed)
  }

  /// Takes the lock if it is free, or if the reservation on it has ended. Called with `monitor` locked.
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

  /// Takes the lock after spinning for it; false if it stayed held. One thread spins at a time. Called with
  /// `monitor` locked; unlocks it while it spins.
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

  /// Leaves the lock, which this thread holds, to the thread that claims the reservation. From `patience` on,
  /// any other thread may take the lock.
  func reserve(patience: Duration) -> TurnReservation {
    monitor.withLock {
      reservationCount += 1
      let reservation = TurnReservation(number: reservationCount)
      holder = .reservation(reservation, expiry: Self.time(after: patience))
      wakeFirst()
      return reservation
    }
  }

  /// Takes the reserved lock; false if another thread has taken it because the reservation had ended. Never
  /// waits.
  func claim(_ reservation: TurnReservation) -> Bool {
    monitor.withLock {
      guard case .reservation(reservation, _) = holder else { return false }
      holder = .thread(pthread_self())
      return true
    }
  }

  /// Releases the reserved lock, unless it was claimed or the reservation has ended.
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
    // A longer time is cut to a year, which can be added to any moment.
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
