import Cambium
import TestSupport
import Testing

@testable import GraphContext

/// Lists by rank where many objects have unsaved changes.
struct UnsavedRankTests {
  /// The cost of a turn depends on the changes in it, not on the number of objects with unsaved changes from earlier
  /// turns.
  @Test func aTurnDoesNotPayForTheUnsavedChangesOfOthers() async throws {
    let container = try await Airport.open(count: 6_000)
    let context = try container.context()
    let byMinute = From<Departure>().orderBy(\.minute)
    let list = try FetchedResults(byMinute, in: context)
    let flights = try context.fetch(byMinute)
    for flight in flights.prefix(5_000) { flight.minute += 1 }
    context.processPendingChanges()
    let before = list.entriesWalked
    flights[5_500].minute = 3
    context.processPendingChanges()
    #expect(list.entriesWalked - before <= 200)
    #expect(try list.objectIDs(at: 0..<6_000) == context.fetchIDs(byMinute))
    for place in 0..<50 {
      flights[place * 100].minute += 5
      context.processPendingChanges()
    }
    #expect(list.entriesWalked - before <= 51 * 200 + 2 * 6_000)
  }

  @Test func positionsAmongManyUnsavedObjectsAreRight() async throws {
    var random = SeededGenerator()
    let container = try await Airport.open(count: 3_000)
    let context = try container.context()
    context.undoManager = ContextUndoManager()
    let byMinute = From<Departure>().orderBy(.descending(\.minute))
    let some = byMinute.where { $0.minute > 500 && $0.minute < 2_500 }
    let lists = try [byMinute, some, some.limit(700).offset(30)].map { try FetchedResults($0, in: context) }
    var flights = try context.fetch(byMinute)
    flights.shuffle(using: &random)
    for flight in flights.prefix(2_000) { flight.minute += random.number(in: -40...40) }
    for turn in 0..<120 {
      for _ in 0..<random.number(in: 1...20) {
        switch random.number(in: 0...3) {
        case 0:
          flights.append(Departure(random.number(in: 0...3_000), "new"))
          context.insert(flights[flights.count - 1])
        case 1:
          let place = random.number(in: 0...flights.count - 1)
          context.delete(flights.remove(at: place))
        default: random.pick(flights).minute = random.number(in: 0...3_000)
        }
      }
      context.processPendingChanges()
      if turn % 40 == 39 { try context.save() }
      if turn % 10 == 5 { for list in lists { #expect(try ids(list) == context.fetchIDs(list.request)) } }
    }
    for _ in 0..<20 {
      if context.undoManager?.canUndo == true { context.undo() }
      context.processPendingChanges()
    }
    for list in lists {
      #expect(list.isRanked)
      #expect(try ids(list) == context.fetchIDs(list.request))
      #expect(list.map(\.minute) == list.map(\.minute).sorted(by: >))
    }
    context.rollback()
    for list in lists { #expect(try ids(list) == context.fetchIDs(list.request)) }
  }

  private func ids(_ list: FetchedResults<Departure>) throws -> [ManagedObjectID] {
    try list.objectIDs(at: 0..<list.count)
  }

  @Test func chunksAreASortedArray() {
    var random = SeededGenerator()
    var (chunks, array) = (SortedChunks<Int>(), [Int]())
    for step in 0..<6_000 {
      let value = random.number(in: 0...3_000)
      let place = chunks.prefixCount { $0 < value }
      #expect(place == array.insertionIndex(sorted: value) { $0 })
      if random.chance(step < 4_000 ? 1 : 3, in: 4), place < array.count {
        chunks.remove(at: place)
        array.remove(at: place)
      } else {
        chunks.insert(value, at: place)
        array.insert(value, at: place)
      }
      if step % 500 == 0 { #expect(Array(chunks.elements) == array) }
    }
    #expect(chunks.count == array.count && array.indices.allSatisfy { chunks[$0] == array[$0] })
  }
}
