import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Threads that want to write at the same time.
struct GroupCommitTests {
  /// Runs `body` on so many threads at once and waits for them.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let handle = Running(Atomic(count))
    for index in 0..<count {
      DetachedThread.run {
        body(index)
        handle.end()
      }
    }
    while handle.count > 0 { usleep(200) }
  }

  private final class Running: Sendable {
    private let threads: Atomic<Int>

    init(_ threads: consuming Atomic<Int>) { self.threads = threads }

    var count: Int { threads.load(ordering: .acquiring) }
    func end() { threads.subtract(1, ordering: .acquiringAndReleasing) }
  }

  private final class Tally: Sendable {
    let turns = Atomic(0)
    let isServed = Atomic(false)
  }

  @Test func aSleeperIsPassedOverNoMoreThanSoOften() throws {
    let lock = WriterLock()
    let tally = Tally()
    try lock.acquire()
    DetachedThread.run {
      try? lock.acquire()
      tally.isServed.store(true, ordering: .releasing)
      lock.release()
    }
    while lock.sleeperCount == 0 { usleep(200) }
    // A thread that asks right after giving the turn back is always quicker than a thread that has to be woken.
    while !tally.isServed.load(ordering: .acquiring) {
      lock.release()
      try lock.acquire()
      tally.turns.add(1, ordering: .relaxed)
    }
    lock.release()
    #expect(tally.turns.load(ordering: .relaxed) <= WriterLock.bypassLimit + 1)
  }

  @Test func theTurnIsOneThreadsAndNobodyIsForgotten() {
    // Safety: only the thread that has the turn touches `turns`.
    final class Count: @unchecked Sendable {
      var turns = 0
      let timeouts = Atomic(0)
    }
    let lock = WriterLock()
    let count = Count()
    onThreads(12) { index in
      for round in 0..<400 {
        // Some threads give up, at about the time when they would get the turn.
        let timeout: Duration? = (index + round) % 3 == 0 ? .microseconds(round % 100) : nil
        do {
          try lock.acquire(timeout: timeout)
          count.turns += 1
          if round % 50 == 0 { usleep(50) }
          lock.release()
        } catch {
          count.timeouts.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(count.turns + count.timeouts.load(ordering: .relaxed) == 12 * 400)
    #expect(lock.sleeperCount == 0)
    #expect(lock.acquireIfFree())
  }

  @Test func commitsOfAllDurabilitiesAreAllAcknowledged() throws {
    let folder = try TemporaryFolder()
    let store = try Store.open(at: folder.file("group.cambium"))
    let tally = Running(Atomic(0))
    onThreads(12) { index in
      for round in 0..<40 {
        let durability: Durability = (index + round) % 3 == 0 ? .relaxed : .full
        do {
          try store.put("\(index) \(round)", "v", durability: durability)
          if round % 10 == index % 10 { try store.makeDurable() }
        } catch {
          tally.end()
        }
      }
    }
    #expect(tally.count == 0)
    #expect(store.lastCommit == 12 * 40)
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func whenASyncFailsEverybodyIsTold() throws {
    for position in 0..<8 {
      let fixture = StoreFixture()
      let store = try fixture.open()
      try store.put("first", "v")
      fixture.disk.inject(DiskFault(.writeDurably, at: position, .error(EIO)))
      let untold = Running(Atomic(8))
      onThreads(8) { index in
        for round in 0..<100 {
          do {
            try store.put("\(index) \(round)", "v", durability: round % 4 == 1 ? .relaxed : .full)
          } catch {
            untold.end()
            return
          }
        }
      }
      #expect(untold.count == 0)
      #expect(code { try store.put("last", "v") } == .fenced)
    }
  }
}
