import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// A program can rebuild the store's values from the history alone: random changes by contexts, children and batches
/// are replayed.
struct HistoryReplayTests {
  @Test func theHistoryReplayedGivesTheStore() async throws {
    var random = SeededGenerator()
    for _ in 0..<TestEffort.times(6, long: 12) {
      let seed = random.next()
      let library = try await Library.open()
      if seed % 3 > 0 { try await library.keepHistory() }
      var program = try await HistoryProgram(library, SeededGenerator(seed: seed))
      if seed % 3 == 0 {
        for _ in 0..<20 { try await program.step() }
        try await library.keepHistory()
      }
      var mirror = try Mirror(library)
      for step in 0..<120 {
        try await program.step()
        guard step % 10 == 9 else { continue }
        try await mirror.catchUp()
        let now = try Mirror(library)
        #expect(mirror.objects == now.objects, "seed \(seed), step \(step)")
        if mirror.objects != now.objects { return }
      }
      program.end()
      #expect(try await library.verify() == [], "seed \(seed)")
    }
  }
}

/// The values of all objects of a store, kept up to date by the history.
private struct Mirror {
  private let library: PersistentContainer
  private var token: HistoryToken
  /// The spellings of attributes, references and links that are stored as pairs, by name.
  private(set) var objects: [ManagedObjectID: [String: String]] = [:]

  /// A mirror of the newest state, made without the history.
  init(_ library: PersistentContainer) throws {
    self.library = library
    token = try library.newestHistoryToken()
    let context = try library.context()
    defer { context.end() }
    for entity in library.coordinator.schema.entities {
      let rows = try context.source.rows(
        of: DynamicQuery(entity.name).resolvedForObjects(in: library.schema, store: library.storeID),
        over: nil,
        needsRecords: false
      )
      for row in rows {
        let id = ManagedObjectID(entity: entity.label, number: row.number, storeID: library.storeID)
        objects[id] = try Self.values(of: id, in: context)
      }
    }
  }

  /// Applies the transactions since the last call. Of an updated object, it reads only the properties that the
  /// history lists as changed.
  mutating func catchUp() async throws {
    let transactions = try await library.history(HistoryQuery(after: token))
    token = transactions.last?.token ?? token
    let context = try library.context()
    defer { context.end() }
    for change in transactions.flatMap(\.changes) {
      let id = change.objectID
      let now = try Self.values(of: id, in: context)
      switch change.kind {
      case .inserted:
        #expect(objects[id] == nil)
        objects[id] = now ?? [:]
      case .deleted:
        #expect(objects[id] != nil && now == nil)
        objects[id] = nil
      case .updated:
        #expect(objects[id] != nil && !change.properties.isEmpty)
        for name in change.properties { objects[id]?[name] = now?[name] }
      }
    }
  }

  /// Nil for an object that the store doesn't have.
  private static func values(
    of id: ManagedObjectID,
    in context: ManagedObjectContext
  ) throws -> [String: String]? {
    let entity = try #require(context.coordinator.schema.entity(id.entity))
    guard let bytes = try context.source.record(id.number, of: entity) else { return nil }
    let record = RecordView(validated: bytes, layout: entity.layout)
    var values: [String: String] = [:]
    for property in entity.schema.stored { values[property.name] = "\(record.value(property.slot))" }
    for toMany in entity.toManys {
      guard case .pairs = toMany.storage else { continue }
      values[toMany.name] = "\(try context.source.elements(of: id.number, in: toMany.links))"
    }
    return values
  }
}

/// Random changes of a library by two contexts, a child and batches. A save that fails is rolled back.
private struct HistoryProgram {
  private let library: PersistentContainer
  private let contexts: [ManagedObjectContext]
  private let child: ManagedObjectContext
  private var random: SeededGenerator
  private var count = 0

  init(_ library: PersistentContainer, _ random: SeededGenerator) async throws {
    self.library = library
    self.random = random
    let publishers = (0..<3).map { "P\($0)" }
    try await library.write { context in
      for name in publishers { context.insert(Publisher(name)) }
    }
    contexts = [try library.context(), try library.context()]
    child = contexts[0].makeChild()
    contexts[1].mergePolicy = .mergeByPropertyObjectTrump
  }

  func end() { for context in contexts { context.end() } }

  mutating func step() async throws {
    if random.chance(1, in: 12) { return try await batch() }
    let context = random.pick(contexts + [child])
    for _ in 0..<random.number(in: 1...4) { try edit(context) }
    guard random.chance(1, in: 2) else { return }
    do {
      try context.save()
      if context === child { try contexts[0].save() }
    } catch {
      context.rollback()
      contexts[0].rollback()
      try context.refresh()
    }
  }

  private mutating func batch() async throws {
    let rank = random.number(in: 0...9)
    do {
      switch random.number(in: 0...2) {
      case 0: try await library.batchDelete(From<Writer>().where { $0.rank == rank }.limit(1))
      case 1:
        try await library.batchUpdate(From<Writer>().where { $0.rank < rank }, .set(\.rank) { $0.rank + 1 })
      default:
        try await library.batchInsert(
          Writer.self,
          from: 0..<3,
          .set(\.name) { "b\($0)" },
          .set(\.rank) { $0 }
        )
      }
    } catch { #expect(error.code == .deletionDenied || error.code == .missingValue) }
  }

  private mutating func edit(_ context: ManagedObjectContext) throws {
    let writers = try context.fetch(From<Writer>())
    let readers = try context.fetch(From<Reader>())
    let books = try context.fetch(From<Book>())
    count += 1
    let writer = writers.isEmpty ? nil : random.pick(writers)
    switch random.number(in: 0...11) {
    case 0, 1: context.insert(Writer("w\(count)", rank: random.number(in: 0...9)))
    case 2: context.insert(Reader("r\(count)"))
    case 3:
      let book = Book("b\(count)", publisher: random.pick(try context.fetch(From<Publisher>())))
      context.insert(book)
      writer?.books.append(book)
    case 4: writer?.desk = Desk(count)
    case 5: if !readers.isEmpty { writer?.fans = [random.pick(readers)] }
    case 6: if !readers.isEmpty { random.pick(readers).idols = Set(writers.prefix(random.number(in: 0...3))) }
    case 7: if !readers.isEmpty, !books.isEmpty { random.pick(readers).favourite = random.pick(books) }
    case 8: writer?.rank = random.number(in: 0...9)
    case 9: if !books.isEmpty { context.delete(random.pick(books)) }
    case 10: if let writer, random.chance(1, in: 3) { context.delete(writer) }
    default: if !readers.isEmpty, random.chance(1, in: 2) { context.delete(random.pick(readers)) }
    }
  }
}
