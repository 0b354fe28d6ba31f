import Glibc

/// A moment of the clock that `ContinuousClock` reads, which continues while the system sleeps. `Instant` has
/// a layout that is known only at run time, so that a type with one takes longer to make than a snapshot.
struct UptimeInstant: Sendable {
  private let nanoseconds: Int64

  static var now: UptimeInstant {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UptimeInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The time since then.
  var age: Duration { .nanoseconds(Self.now.nanoseconds - nanoseconds) }
}
