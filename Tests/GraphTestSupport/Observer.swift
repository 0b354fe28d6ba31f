import Observation
import Synchronization

/// One observation of what a closure reads.
package final class Observer: Sendable {
  private let calls = Atomic(0)

  package init(_ read: () -> Void) {
    withObservationTracking(read) { [self] in calls.add(1, ordering: .relaxed) }
  }

  /// Whether the observer was called.
  package var wasCalled: Bool { calls.load(ordering: .relaxed) > 0 }
  package var callCount: Int { calls.load(ordering: .relaxed) }
}
