import Cambium
import GraphTestSupport
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// The power fails, or the process ends, at every step of a change of the whole store. Afterwards the store has the
/// whole change, or nothing of it.
struct BatchCrashTests {
  enum Change: CaseIterable, Sendable {
    case reset, deletion, update, insertion

    func make(in library: PersistentContainer) async throws {
      switch self {
      case .reset: try await library.resetStore(author: "crash")
      // The delete rules also delete books and links.
      case .deletion: try await library.batchDelete(From<Writer>(), author: "crash")
      case .update:
        try await library.batchUpdate(From<Book>(), .set(\.pages) { $0.pages + 1 }, author: "crash")
      case .insertion:
        try await library.batchInsert(
          Writer.self,
          from: 0..<200,
          .set(\.name) { "new \($0)" },
          .set(\.rank) { $0 },
          author: "crash"
        )
      }
    }
  }

  @Test(arguments: Change.allCases, [true, false])
  func happensWholeOrNotAtAll(_ change: Change, isCheckpointed: Bool) async throws {
    var generator = SeededGenerator("\(#function) \(change) \(isCheckpointed)")
    let disk = SimulatedDisk()
    let library = try container(on: disk, seed: generator.next())
    try await library.keepHistory()
    try await fill(library)
    if isCheckpointed { try await library.checkpoint() }
    let before = try dump(library)
    let lastNumber = try await library.query { try $0.fetch(From<Writer>()).map(\.objectID.number).max() }
    let points = Mutex<[CrashPoint]>([disk.crashPoint])
    disk.observe { _, point in points.withLock { $0.append(point) } }
    try await change.make(in: library)
    disk.observe(nil)
    points.withLock { $0.append(disk.crashPoint) }
    let after = try dump(library)
    #expect(after != before)

    var (beforeCount, afterCount) = (0, 0)
    for point in points.withLock({ $0 }) {
      // One of three kinds of damage for each moment, because the test opens, compares and changes each image.
      let damage = generator.pick([Damage.allLost, .allKept, generator.pick(point.possibleDamage)])
      let image = SimulatedDisk(point.image(damage, seed: generator.next()))
      let found = try container(on: image, seed: generator.next())
      let isDone = try dump(found) == after
      if isDone { afterCount += 1 } else { beforeCount += 1 }
      #expect(try isDone || dump(found) == before, "\(damage)")
      #expect(try await found.history(HistoryQuery(authors: ["crash"])).count == (isDone ? 1 : 0))
      #expect(try await found.verify() == [])
      // No ID is used again, and an interrupted change can be made again.
      let number = try await found.write { context in
        let writer = Writer("later")
        context.insert(writer)
        return writer.objectID.number
      }
      #expect(try number > #require(lastNumber))
      try await found.batchDelete(From<Writer>().where { $0.name == "later" })
      guard generator.chance(1, in: 8) else { continue }
      if !isDone { try await change.make(in: found) }
      if change != .insertion { #expect(try dump(found) == after) }
    }
    #expect(beforeCount > 0 && afterCount > 0)
    // A change whose call has returned is durable.
    let last = try container(on: SimulatedDisk(disk.crashPoint.image(.allLost, seed: 1)), seed: 1)
    #expect(try dump(last) == after)
  }

  private func container(on disk: SimulatedDisk, seed: UInt64) throws -> PersistentContainer {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.initialLogByteCount = 16 << 10
    let environment = StoreEnvironment.simulated(seed: seed)
    let store = try Store.open(file: disk, path: "library", options: options, environment: environment)
    return try PersistentContainer("Library", models: Library.models, on: store)
  }

  private func fill(_ library: PersistentContainer) async throws {
    try await library.write { context in
      let publisher = Publisher("Ace")
      for number in 0..<40 {
        let (writer, reader) = (Writer("w\(number)", email: "e\(number)", rank: number), Reader("r\(number)"))
        context.insert(writer)
        context.insert(reader)
        reader.idols = [writer]
        for place in 0..<3 {
          let book = Book("b\(number)", pages: number + place, publisher: publisher)
          writer.books.append(book)
        }
      }
    }
  }

  private func dump(_ library: PersistentContainer) throws -> LibraryDump {
    let context = try library.context()
    defer { context.end() }
    return try LibraryDump(context)
  }
}
