import Dispatch
import Synchronization
import Testing

@testable import PageStore

/// The pages that each reader protects, one reader at a time.
struct ReaderTableTests {
  private let readers = ReaderTable()
  private let page = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)

  private var address: UInt { UInt(bitPattern: page) }

  @Test func aReaderProtectsWhatWasReachableWhenItBegan() {
    defer { page.deallocate() }
    let reader = readers.enter()
    let epoch = readers.endEpoch()
    #expect(!readers.protection().allowsReuse(of: address, retiredIn: epoch))
    reader.end(visiting: 3)
    #expect(readers.protection().allowsReuse(of: address, retiredIn: epoch))
    reader.begin()
    #expect(readers.protection().allowsReuse(of: address, retiredIn: epoch))
    #expect(!readers.protection().allowsReuse(of: address, retiredIn: readers.endEpoch()))
    reader.leave(visiting: 4)
    #expect(readers.protection().oldestEpoch == .max)
    #expect(readers.visitCount == 7)
  }

  @Test func whatIsNamedStaysBeyondTheWalk() {
    defer { page.deallocate() }
    let reader = readers.enter()
    reader.protect(page: page)
    reader.end(visiting: 1)
    let epoch = readers.endEpoch()
    #expect(!readers.protection().allowsReuse(of: address, retiredIn: epoch))
    #expect(readers.protection().allowsReuse(of: address + 8, retiredIn: epoch))
    reader.leave()
    #expect(readers.protection().allowsReuse(of: address, retiredIn: epoch))
  }

  @Test func thereIsASlotForEveryReader() {
    defer { page.deallocate() }
    let all = (0..<1_000).map { _ in readers.enter() }
    let epoch = readers.endEpoch()
    for reader in all.dropLast() { reader.leave(visiting: 1) }
    #expect(!readers.protection().allowsReuse(of: address, retiredIn: epoch))
    all.last?.leave(visiting: 1)
    #expect(readers.protection().allowsReuse(of: address, retiredIn: epoch))
    #expect(readers.visitCount == 1_000)
  }

  @Test func noTwoThreadsHaveOneSlot() {
    defer { page.deallocate() }
    let rounds = 20_000
    let readers = readers
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<rounds { readers.enter().leave(visiting: 1) }
    }
    // Each slot counts without a lock: with two owners at once, a slot would lose visits.
    #expect(readers.visitCount == UInt64(4 * rounds))
  }
}
