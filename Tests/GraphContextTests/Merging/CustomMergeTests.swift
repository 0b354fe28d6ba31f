import Cambium
import Foundation
import GraphTestSupport
import Synchronization
import TestSupport
import Testing

@testable import GraphContext
@testable import PageStore

/// Merge policies of programs.
struct CustomMergeTests {
  private let library: PersistentContainer
  private let mine: ManagedObjectContext
  private let writer: Writer

  init() async throws {
    library = try await Library.open()
    mine = try library.context()
    writer = Writer("A", rank: 10)
    mine.insert(writer)
    try mine.save()
  }

  private static let sum = MergePolicy.custom { conflict in
    conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? 0) }
  }

  /// Changes the writer in another context.
  private static func change(
    _ id: ManagedObjectID,
    in library: PersistentContainer,
    _ change: (Writer) throws -> Void
  ) throws {
    let other = try library.context()
    defer { other.end() }
    try change(other.existingObject(Writer.self, with: id))
    try other.save()
  }

  private func changeElsewhere(_ change: (Writer) throws -> Void) throws {
    try Self.change(writer.objectID, in: library, change)
  }

  private func stored() throws -> (name: String, rank: Int) {
    let other = try library.context()
    defer { other.end() }
    #expect(try library.verify().map(\.description) == [])
    let writer = try other.existingObject(Writer.self, with: writer.objectID)
    return (writer.name, writer.rank)
  }

  @Test func bothSidesCount() throws {
    mine.mergePolicy = Self.sum
    try changeElsewhere { $0.rank += 5 }
    writer.rank += 1
    try mine.save()
    #expect(try stored().rank == 16 && writer.rank == 16 && !mine.hasChanges)
    #expect(
      mine.mergePolicy == Self.sum && mine.mergePolicy != .custom { _ in }
        && "\(mine.mergePolicy)" == "custom"
    )
  }

  @Test func thePolicySeesTheThreeValues() throws {
    let seen = Mutex<[MergeConflict]>([])
    mine.mergePolicy = .custom { conflict in
      seen.withLock { $0.append(conflict) }
      conflict.keepMine("rank")
      conflict.keepTheirs()
    }
    try changeElsewhere { ($0.rank, $0.name) = (11, "T") }
    (writer.rank, writer.name) = (12, "M")
    try mine.save()
    let conflict = try #require(seen.withLock { $0 }.first)
    #expect(seen.withLock { $0.count } == 1 && conflict.objectID == writer.objectID)
    #expect(conflict.properties.map(\.name).sorted() == ["name", "rank"] && conflict["books"] == nil)
    let rank = try #require(conflict["rank"])
    #expect(rank.base == .int(10) && rank.mine == .int(12) && rank.theirs == .int(11))
    #expect(try stored() == ("T", 12) && writer.name == "T" && writer.rank == 12)
  }

  @Test func whatIsNotResolvedIsAConflict() throws {
    mine.mergePolicy = Self.sum
    try changeElsewhere { ($0.rank, $0.name) = (11, "T") }
    (writer.rank, writer.name) = (12, "M")
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["name"])
    #expect(writer.rank == 12 && writer.name == "M" && mine.hasChanges)
    mine.mergePolicy = .mergeByPropertyStoreTrump
    try mine.save()
    #expect(try stored() == ("T", 11))
  }

  @Test func disjointChangesNeedNoPolicy() throws {
    mine.mergePolicy = .custom { conflict in Issue.record("there is no conflict") }
    try changeElsewhere { $0.name = "T" }
    writer.rank = 12
    try mine.save()
    #expect(try stored() == ("T", 12))
  }

  @Test func wrongValuesAreRefused() throws {
    try changeElsewhere { ($0.rank, $0.name) = (11, "T") }
    (writer.rank, writer.name) = (12, "M")
    let commit = try library.context().source.commit
    let policies: [(MergePolicy, ContextError.Code)] = [
      (
        .custom { conflict in
          conflict.resolve("rank", with: "twelve")
          conflict.keepMine()
        }, .wrongValue
      ),
      (
        .custom { conflict in
          conflict.resolve("rank", with: Int?.none)
          conflict.resolve("nonsense", with: 5)
          conflict.keepMine()
        }, .missingValue
      ),
    ]
    for (policy, code) in policies {
      mine.mergePolicy = policy
      let error = #expect(throws: ContextError.self) { try mine.save() }
      #expect(error?.code == code && error?.context.properties == ["rank"])
      #expect(writer.rank == 12)
    }
    #expect(try library.context().source.commit == commit)
  }

  @Test func anErrorOfThePolicyIsTheCause() throws {
    struct Undecided: Error {}
    mine.mergePolicy = .custom { _ in throw Undecided() }
    try changeElsewhere { $0.rank = 11 }
    writer.rank = 12
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && error?.underlyingError is Undecided && writer.rank == 12)
  }

  // MARK: Others who save meanwhile

  @Test func anotherSaveMeanwhileIsMergedToo() throws {
    let calls = Mutex(0)
    mine.mergePolicy = .custom { [library, id = writer.objectID] conflict in
      let call = calls.withLock {
        $0 += 1
        return $0
      }
      if call <= 3 { try Self.change(id, in: library) { $0.rank += 100 } }
      conflict.resolve(\Writer.rank) { $1 + $2 - ($0 ?? 0) }
    }
    try changeElsewhere { $0.rank += 5 }
    writer.rank += 1
    try mine.save()
    #expect(calls.withLock { $0 } == 4)
    #expect(try stored().rank == 316 && writer.rank == 316)
  }

  @Test func aSaveGivesUp() throws {
    let calls = Mutex(0)
    mine.mergePolicy = .custom { [library, id = writer.objectID] conflict in
      calls.withLock { $0 += 1 }
      try Self.change(id, in: library) { $0.rank += 1 }
      conflict.keepMine()
    }
    try changeElsewhere { $0.rank += 1 }
    writer.rank = 0
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .conflict && calls.withLock { $0 } == 10)
    #expect(try stored().rank == 21 && writer.rank == 0)
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(try stored().rank == 0)
  }

  @Test func aContextThatHasMovedOnKnowsTheBase() throws {
    mine.mergePolicy = Self.sum
    writer.rank += 2
    for _ in 0..<3 {
      try changeElsewhere { $0.rank += 5 }
      try mine.refresh()
      #expect(writer.rank == 12)
    }
    try changeElsewhere { $0.rank += 5 }
    try mine.save()
    #expect(try stored().rank == 32 && writer.rank == 32)
    writer.rank += 1
    try changeElsewhere { $0.rank += 5 }
    try mine.refresh()
    try mine.save()
    #expect(try stored().rank == 38, "what was saved is no base any more")
  }

  @Test func aChildThatHasMovedOnKnowsTheBase() throws {
    mine.mergePolicy = Self.sum
    let child = mine.makeChild()
    try child.existingObject(Writer.self, with: writer.objectID).rank += 2
    try changeElsewhere { $0.rank += 5 }
    try mine.refresh()
    try child.save()
    try mine.save()
    #expect(try stored().rank == 17)
  }

  // MARK: Deletions and links

  @Test func whatEitherSideHasDeletedIsDeleted() throws {
    mine.mergePolicy = .custom { _ in Issue.record("a deletion is no question") }
    writer.rank = 12
    try changeElsewhere { $0.context?.delete($0) }
    try mine.save()
    #expect(writer.isDeleted)
    #expect(try mine.count(From<Writer>()) == 0)
  }

  @Test(arguments: [true, false])
  func aRelationshipIsOneOfBoth(_ keepsMine: Bool) throws {
    let (desk, names) = (Desk(1), ["X", "Y"])
    let writers = names.map { Writer($0) }
    for writer in writers { mine.insert(writer) }
    mine.insert(desk)
    try mine.save()
    mine.mergePolicy = .custom { conflict in
      if keepsMine { conflict.keepMine() } else { conflict.keepTheirs() }
    }
    let other = try library.context()
    try other.existingObject(Desk.self, with: desk.objectID).writer =
      try other.existingObject(Writer.self, with: writers[1].objectID)
    try other.save()
    other.end()
    desk.writer = writers[0]
    try mine.save()
    #expect(desk.writer === writers[keepsMine ? 0 : 1])
    #expect(try library.verify().map(\.description) == [])
  }

  // MARK: Other ways to save

  @Test func savingWithoutBlockingAsksToo() async throws {
    try await Self.count(in: library, writer.objectID)
    #expect(try stored().rank == 16)
  }

  @MainActor private static func count(in library: PersistentContainer, _ id: ManagedObjectID) async throws {
    let context = library.viewContext
    context.automaticallyMergesChangesFromParent = false
    context.mergePolicy = sum
    let writer = try context.existingObject(Writer.self, with: id)
    writer.rank += 1
    try change(id, in: library) { $0.rank += 5 }
    try await context.saveWithoutBlocking()
    #expect(writer.rank == 16)
  }

  /// A decision is valid only for the values that it was made on. Code that runs while the save waits for its turn
  /// may change them.
  @Test func aDecisionCountsForTheValuesThatItWasMadeOn() async throws {
    try await Self.countWhileWaiting(in: library, writer.objectID)
    #expect(try stored().rank == 116)
  }

  @MainActor private static func countWhileWaiting(
    in library: PersistentContainer,
    _ id: ManagedObjectID
  ) async throws {
    let context = library.viewContext
    context.automaticallyMergesChangesFromParent = false
    let store = library.store
    let turns = Mutex<[TurnReservation]>([])
    context.mergePolicy = .custom { conflict in
      conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? 0) }
      // The save has to wait for another writer's turn after its first question.
      turns.withLock { turns in
        guard turns.isEmpty else { return }
        if let turn = try? store.reserveTurn(timeout: nil, patience: .seconds(86_400)) { turns.append(turn) }
      }
    }
    let writer = try context.existingObject(Writer.self, with: id)
    writer.rank += 1
    try change(id, in: library) { $0.rank += 5 }
    let later = Task { @MainActor in
      while turns.withLock({ $0.isEmpty }) { await Task.yield() }
      try context.existingObject(Writer.self, with: id).rank += 100
      turns.withLock { $0.forEach(store.cancel) }
    }
    try await context.saveWithoutBlocking()
    try await later.value
    #expect(writer.rank == 116)
  }

  /// No increment is lost, in any order of the saves.
  @Test func randomIncrementsAddUp() throws {
    var random = SeededGenerator()
    let contexts = try (0..<3).map { _ in try library.context() }
    defer { contexts.forEach { $0.end() } }
    for context in contexts { context.mergePolicy = Self.sum }
    var total = 10
    for _ in 0..<300 {
      let context = random.pick(contexts)
      let writer = try context.existingObject(Writer.self, with: self.writer.objectID)
      let added = random.number(in: 1...9)
      writer.rank += added
      total += added
      if random.chance(1, in: 3) { try context.save() }
    }
    for context in contexts { try context.save() }
    #expect(try stored().rank == total)
  }
}
