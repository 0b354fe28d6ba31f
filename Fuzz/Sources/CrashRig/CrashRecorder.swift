import Synchronization
@_spi(Testing) import TestSupport

/// A moment at which the power might have failed, and the commits that the store had acknowledged by then.
struct Moment<State: Sendable>: Sendable {
  var point: CrashPoint
  var operation: Operation
  var model: CommitHistory<State>
}

/// Watches a disk and keeps moments of it: each change, or a fair sample where there are many.
final class CrashRecorder<State: Sendable>: Sendable {
  private struct Record {
    var operation = Operation.creation
    var isKept: @Sendable (CrashPoint) -> Bool = { _ in true }
    var moments: [Moment<State>] = []
    var seen = 0
    var generator: SeededGenerator
  }

  private let state: Mutex<Record>
  private let ledger: ModelLedger<State>
  private let capacity: Int

  init(ledger: ModelLedger<State>, capacity: Int, seed: UInt64) {
    self.ledger = ledger
    self.capacity = capacity
    state = Mutex(Record(generator: SeededGenerator(seed: seed)))
  }

  /// Watches `disk` from now on.
  func watch(_ disk: SimulatedDisk) {
    // The history of the store is recorded together with the disk's state: other threads commit meanwhile.
    disk.witness { [self] point in record(point) }
  }

  /// Sets the operation that runs from now on, and the moments of it that are kept.
  func begin(_ operation: Operation, keeping isKept: @escaping @Sendable (CrashPoint) -> Bool = { _ in true })
  {
    state.withLock { state in
      state.operation = operation
      state.isKept = isKept
    }
  }

  func record(_ point: CrashPoint) {
    let model = ledger.model
    state.withLock { state in
      guard state.isKept(point) else { return }
      let moment = Moment(point: point, operation: state.operation, model: model)
      state.seen += 1
      if state.moments.count < capacity {
        state.moments.append(moment)
      } else {
        let place = state.generator.number(in: 0...state.seen - 1)
        if place < capacity { state.moments[place] = moment }
      }
    }
  }

  /// The moments since the last call.
  func take() -> [Moment<State>] {
    state.withLock { state in
      defer {
        state.moments = []
        state.seen = 0
      }
      return state.moments
    }
  }
}
