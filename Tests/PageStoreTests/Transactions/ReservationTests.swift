import Dispatch
import Testing

@testable import PageStore

/// Turns that one thread waits for and another uses.
struct ReservationTests {
  private let store: Store

  init() throws { store = try Store.inMemory() }

  @Test func aReservedTurnIsKeptForTheThreadThatClaimsIt() throws {
    let reservation = try store.reserveTurn(timeout: nil, patience: .seconds(60))
    #expect(try store.write(turn: .ifFree) { _ in } == nil)
    let refusal = #expect(throws: StoreError.self) { try store.write(timeout: .milliseconds(5)) { _ in } }
    #expect(refusal?.code == .timedOut)
    onAnotherThread { [store] in
      let result: Void? = try store.write(turn: .reserved(reservation)) { _ = try $0.tree("A") }
      #expect(result != nil)
    }
    #expect(try store.write(turn: .reserved(reservation)) { _ in } == nil)
    #expect(store.lastCommit == 1)
    try store.write { _ = try $0.tree("B") }
  }

  @Test func aReservationThatOthersHaveWaitedForEnds() throws {
    let reservation = try store.reserveTurn(timeout: nil, patience: .milliseconds(1))
    // Only the end of the reservation wakes this writer.
    try store.write { _ = try $0.tree("A") }
    #expect(try store.write(turn: .reserved(reservation)) { _ in } == nil)
  }

  @Test func aReservationThatNobodyWaitedForLasts() throws {
    let reservation = try store.reserveTurn(timeout: nil, patience: .zero)
    #expect(try store.write(turn: .reserved(reservation)) { _ = try $0.tree("A") } != nil)
  }

  /// The writer that sleeps when the reservation is made has no deadline, and no thread gives the turn back.
  @Test func aReservationWakesTheWriterThatHasToWatchIt() throws {
    let hasBegun = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    DetachedThread.run { [store] in
      try? store.writerLock.acquire()
      hasBegun.signal()
      mayEnd.wait()
      _ = store.writerLock.reserve(patience: .milliseconds(1))
    }
    hasBegun.wait()
    for _ in 0..<2 {
      done.enter()
      DetachedThread.run { [store] in
        try? store.write { _ in }
        done.leave()
      }
    }
    while store.writerLock.sleeperCount < 2 {}
    mayEnd.signal()
    done.wait()
  }

  @Test func aCancelledReservationGivesTheTurnBack() throws {
    let reservation = try store.reserveTurn(timeout: nil, patience: .seconds(60))
    store.cancel(reservation)
    store.cancel(reservation)
    try store.write { _ = try $0.tree("A") }
    // A reservation that was claimed has no turn left to give back.
    let claimed = try store.reserveTurn(timeout: nil, patience: .seconds(60))
    try store.write(turn: .reserved(claimed)) { _ in
      store.cancel(claimed)
      onAnotherThread { [store] in #expect(!store.writerLock.acquireIfFree()) }
    }
  }

  private func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    DetachedThread.run {
      #expect(throws: Never.self) { try body() }
      done.signal()
    }
    done.wait()
  }
}
