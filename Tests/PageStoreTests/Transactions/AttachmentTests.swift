import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Objects that transactions attach to their commits: each reader finds those of all commits between two of its snapshots.
struct AttachmentTests {
  private func commit(_ number: Int, to store: Store, attaching attachment: (any Sendable)? = nil) throws {
    try store.write { transaction in
      try transaction.tree("t").put(bytes("key"), bytes("\(number)"))
      if let attachment { transaction.attach(attachment) }
    }
  }

  private func numbers(_ snapshot: Snapshot, after other: Snapshot) -> [Int] {
    snapshot.attachments(after: other).compactMap { $0 as? Int }
  }

  @Test func theAttachmentsBetweenTwoSnapshotsComeInOrder() throws {
    let store = try StoreFixture().open()
    var snapshots = [try store.snapshot()]
    for number in 1...9 {
      // Every third commit has none.
      try commit(number, to: store, attaching: number % 3 == 0 ? nil : number)
      if number == 4 { try store.checkpoint() }
      if number == 6 { try store.checkpointConcurrently() }
      snapshots.append(try store.snapshot())
    }
    for (first, other) in snapshots.enumerated() {
      for (last, snapshot) in snapshots.enumerated() {
        let between = first <= last ? first + 1..<last + 1 : last + 1..<first + 1
        #expect(numbers(snapshot, after: other) == between.filter { $0 % 3 != 0 })
      }
    }
  }

  @Test func aTransactionThatLeavesNothingAttachesNothing() throws {
    struct Refusal: Error {}
    let store = try StoreFixture().open()
    let before = try store.snapshot()
    #expect(throws: Refusal.self) {
      try store.write { transaction in
        transaction.attach(1)
        try transaction.tree("t").put(bytes("key"), bytes("1"))
        throw Refusal()
      }
    }
    try store.write { $0.attach(2) }
    try commit(3, to: store, attaching: 3)
    #expect(numbers(try store.snapshot(), after: before) == [3])
  }

  /// A transaction too large for the log is committed by a checkpoint.
  @Test func aLargeTransactionHasItsAttachment() throws {
    let store = try StoreFixture().open()
    let before = try store.snapshot()
    try store.write { transaction in
      let tree = try transaction.tree("large")
      for number in 0..<40 { try tree.put(bytes("\(number)"), [UInt8](repeating: 1, count: 1 << 20)) }
      transaction.attach(1)
    }
    try commit(2, to: store, attaching: 2)
    #expect(numbers(try store.snapshot(), after: before) == [1, 2])
  }

  private final class Counted: Sendable {
    static let count = Atomic<Int>(0)
    init() { Self.count.add(1, ordering: .relaxed) }
    deinit { Self.count.subtract(1, ordering: .relaxed) }
  }

  @Test func attachmentsStayAsLongAsASnapshotBeforeThemAndNoLonger() async throws {
    let linkCount = 10_000
    // With so many links, freeing them recursively would overflow the stack.
    let found = await onASmallStack { Result { try counts(ofLinks: linkCount) } }
    // The newest commit keeps its own.
    #expect(try found.get() == [1, linkCount + 1, linkCount, 1])
  }

  @Test func aSnapshotWithALifetimeKeepsNoAttachments() throws {
    let store = try StoreFixture().open()
    let held = try store.snapshot(label: "forgotten", lifetime: .seconds(3_600))
    var watches: [Weak] = []
    for number in 0..<10 {
      let object = Watched()
      watches.append(Weak(object))
      try commit(number, to: store, attaching: object)
    }
    // The newest commit keeps its own.
    #expect(watches.count { $0.object != nil } == 1)
    #expect(try numbers(store.snapshot(), after: held) == [])
    withExtendedLifetime(held) {}
  }

  private final class Watched: Sendable {}
  private struct Weak {
    weak var object: Watched?
    init(_ object: Watched) { self.object = object }
  }

  /// Returns four counts: the attachments after a few commits, the attachments beside a snapshot after `linkCount` more
  /// commits, the attachments found after the snapshot, and the attachments after the snapshot's release.
  private func counts(ofLinks linkCount: Int) throws -> [Int] {
    func living() -> Int { Counted.count.load(ordering: .relaxed) }
    var options = StoreFixture()
    options.options.durability = .none
    let store = try options.open()
    for number in 0..<10 { try commit(number, to: store, attaching: Counted()) }
    var counts = [living()]
    var held: Snapshot? = try store.snapshot()
    for number in 0..<linkCount { try commit(number, to: store, attaching: Counted()) }
    counts.append(living())
    if let held { counts.append(try store.snapshot().attachments(after: held).count) }
    held = nil
    return counts + [living()]
  }
}
