import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// A store with every kind of property whose trees get random bytes in pages with valid checksums. Opening,
/// verifying, reading, changing and saving may throw typed errors, and must not trap.
struct RandomForgeryTests {
  /// The number of stores.
  private static let storeCount = TestEffort.times(60, long: 200)

  private static let models: [any ManagedObject.Type] =
    Media.models + [Chest.self, ChestItem.self, Jar.self, Sticker.self]

  @Test func forgedTreesTrapNothing() async throws {
    var random = SeededGenerator()
    var noticedCount = 0
    for _ in 0..<Self.storeCount {
      let seed = random.next()
      let container = try await PersistentContainer("Forged", models: Self.models, at: .inMemory)
      try await container.keepHistory()
      var forger = Forger(SeededGenerator(seed: seed))
      try container.inContext { (context: ManagedObjectContext) throws in try Forger.fill(context) }
      let forgeries = try await forger.forge(container.store)
      do {
        noticedCount += try await forger.exercise(container) ? 1 : 0
        // Another container reads the catalogue.
        let other = try PersistentContainer("Forged", models: Self.models, on: container.store)
        noticedCount += try await forger.exercise(other) ? 1 : 0
      } catch is ContextError {
        noticedCount += 1
      } catch {
        Issue.record("seed \(seed): \(error), after \(forgeries)")
      }
    }
    #expect(noticedCount > 0)
  }
}

private struct Forger {
  private var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  // MARK: - A store with everything

  static func fill(_ context: ManagedObjectContext) throws {
    let shelves = ["A", "B"].map { Media.Shelf($0) }
    for shelf in shelves { context.insert(shelf) }
    for code in 0..<9 {
      let item = PlainMedium(PlainMedium.Kind.allCases[code % 3], code).makeObject()
      context.insert(item)
      (item.title, item.year, item.tags) = ("Ä\(code)", code % 4, ["x", "t\(code % 2)"])
      item.cover = Data(repeating: 7, count: code * 300)
      if code % 2 == 0 { item.size = Media.Size(width: code, depth: 3, note: "n") }
      shelves[code % 2].items.insert(item, at: 0)
      if let book = item as? Media.Book {
        (book.motto, book.text) = ("M", String(repeating: "é", count: 800))
        book.notes = [PlainMedium.note("a"), PlainMedium.note("bb")]
        book.notes.reverse()
        book.fans = [shelves[0]]
      }
      if let disc = item as? Media.Disc {
        for seconds in 1...3 { context.insert(Media.Tune(seconds, on: disc)) }
      }
    }
    let (chest, stickers) = (Chest("C"), ["red", "blue"].map { Sticker($0) })
    context.insert(chest)
    for sticker in stickers { context.insert(sticker) }
    for code in 0..<6 {
      let item = code % 2 == 0 ? Jar(code) : ChestItem(code)
      context.insert(item)
      (item.tags, item.weight, item.packing) = (["y"], code, Packing(material: "m", layers: [code]))
      item.size = ItemSize(width: code, grip: ItemGrip(side: "left", depth: code))
      item.stickers = Set(stickers.prefix(code % 3))
      chest.items.insert(item, at: code / 2)
    }
    try context.save()
    for item in chest.items { item.weight += 1 }
    try context.save()
  }

  // MARK: - Forging

  /// Changes some entries of some trees.
  mutating func forge(_ store: Store) async throws -> [String] {
    let (forger, forgeries) = try await store.write { [self] transaction in
      var forger = self
      let forgeries = try forger.forge(&transaction)
      return (forger, forgeries)
    }
    self = forger
    return forgeries
  }

  private mutating func forge(_ transaction: inout WriteTransaction) throws -> [String] {
    var forgeries: [String] = []
    let names = transaction.treeNames
    for _ in 0..<random.number(in: 1...3) {
      let name = random.pick(names)
      let tree = try transaction.tree(name)
      let count = try tree.count
      guard count > 0, let entry = try tree.entry(at: random.number(in: 0...count - 1)) else { continue }
      var (key, value) = entry
      let isMoved = random.chance(1, in: 3) || value.isEmpty
      if random.chance(4, in: 5) { _ = try tree.remove(entry.key) }
      if random.chance(1, in: 12) { continue }
      if isMoved { change(&key) } else { change(&value) }
      if key.isEmpty || key.count > 2_000 { continue }
      _ = try tree.put(key, value)
      forgeries.append("\(name) \(entry.key) \(entry.value.prefix(80)) → \(key) \(value.prefix(80))")
    }
    return forgeries
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    for _ in 0..<random.number(in: 1...3) {
      let place = bytes.isEmpty ? 0 : random.number(in: 0...bytes.count - 1)
      let byte = random.pick([0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, UInt8(random.number(in: 0...255))])
      switch random.number(in: 0...7) {
      case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8(random.number(in: 0...7))
      case 1...3 where !bytes.isEmpty: bytes[place] = byte
      case 4 where !bytes.isEmpty: bytes.removeSubrange(place...)
      case 5: bytes.insert(contentsOf: [UInt8](repeating: byte, count: random.number(in: 1...9)), at: place)
      case 6: bytes += [UInt8](repeating: byte, count: random.number(in: 1...40))
      default:
        let end = min(bytes.count, place + 8)
        for index in place..<end { bytes[index] = byte }
      }
    }
  }

  // MARK: - What a program does

  /// Uses the store in every way.
  ///
  /// - Returns: true if any call threw an error.
  func exercise(_ container: PersistentContainer) async throws -> Bool {
    var noticed = [try Self.notices { if try !container.verify().isEmpty { throw Noticed() } }]
    for body in [Self.read, Self.query, Self.edit, Self.reorder, Self.undo, Self.delete, Self.readValues] {
      noticed.append(
        try Self.notices {
          let context = try container.context()
          defer { context.end() }
          try body(context)
        }
      )
    }
    let history: Result<[HistoryTransaction], ContextError>
    do throws(ContextError) { history = .success(try await container.history()) } catch {
      history = .failure(error)
    }
    noticed.append(try Self.notices { _ = try history.get() })
    return noticed.contains(true)
  }

  private struct Noticed: Error {}

  /// Whether a typed error was thrown.
  private static func notices(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch {
      if error is ContextError || error is Noticed { return true }
      throw error
    }
  }

  private static func read(_ context: ManagedObjectContext) throws {
    for item in try context.fetch(From<Media.Item>()) {
      _ = (PlainMedium(item), item.plainTitle, "\(item)", item.shelf?.name)
    }
    for shelf in try context.fetch(From<Media.Shelf>()) {
      _ = (shelf.itemCount, shelf.pageCount, shelf.newest, shelf.items.count, shelf.items.map(\.code))
      _ = shelf.favourites.map(\.words)
    }
    for item in try context.fetch(From<ChestItem>()) { _ = (PlainItem(item), item.chest?.name) }
    for tune in try context.fetch(From<Media.Tune>().prefetching(\.disc)) { _ = tune.disc.minutes }
    for note in try context.fetch(From<Media.Note>()) { _ = note.book?.title }
    try context.checkUsable()
  }

  private static func query(_ context: ManagedObjectContext) throws {
    _ = try context.fetch(
      From<Media.Item>().where { $0.tags.contains("x") }.orderBy(\.year).fetchingOnly(\.year)
    )
    _ = try context.fetch(From<Media.Book>().where { $0.noteCount > 0 && $0.spine.width < 9 })
    _ = try context.count(From<Media.Item>().where { $0.plainTitle >= "a" })
    _ = try context.fetch(From<ChestItem>().where { $0.size.grip.depth > 1 }.orderBy(\.size?.width))
    _ = try context.fetch(From<ChestItem>().where { $0.stickers.any { $0.word == "red" } })
    _ = try context.fetch(From<ChestItem>().groupBy(\.weight).aggregate(.count))
    _ = try context.fetch(From<ChestItem>().orderBy(.position(in: \.chest)).offset(1).limit(2))
    _ = try context.fetch(From<Media.Item>().where(format: "ANY tags BEGINSWITH 't' AND size != nil"))
    _ = try context.sum(of: \.pages, in: From<Media.Book>())
    for code in 0..<9 { _ = try context.fetchOne(From<Media.Item>().where { $0.code == code }) }
  }

  private static func edit(_ context: ManagedObjectContext) throws {
    for item in try context.fetch(From<Media.Item>()) {
      item.title += "!"
      item.size?.width += 1
      item.tags.append("new")
      (item as? Media.Book)?.notes.append(PlainMedium.note("c"))
      (item as? Media.Disc)?.slot = Media.Size()
    }
    for item in try context.fetch(From<ChestItem>()) { item.size?.grip.depth = 3 }
    let new = Media.Atlas(100)
    context.insert(new)
    try context.save()
  }

  private static func reorder(_ context: ManagedObjectContext) throws {
    for shelf in try context.fetch(From<Media.Shelf>()) {
      if shelf.items.count > 1 { shelf.items.move(from: 0, to: shelf.items.count - 1) }
      shelf.items.insert(Media.Disc(200 + shelf.name.utf8.count + shelf.items.count), at: 0)
      shelf.favourites = []
    }
    for chest in try context.fetch(From<Chest>()) { chest.items = [] }
    try context.save()
  }

  private static func undo(_ context: ManagedObjectContext) throws {
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    defer { child.end() }
    for item in try child.fetch(From<Media.Item>().limit(3)) { child.delete(item) }
    for item in try child.fetch(From<ChestItem>()) { item.stickers = [] }
    try child.save()
    context.undo()
    context.redo()
    context.undo()
    try context.save()
  }

  private static func delete(_ context: ManagedObjectContext) throws {
    for chest in try context.fetch(From<Chest>()) { context.delete(chest) }
    for item in try context.fetch(From<Media.Book>()) { context.delete(item) }
    try context.save()
    try context.deleteAll(From<Media.Item>())
    try context.save()
  }

  private static func readValues(_ context: ManagedObjectContext) throws {
    _ = try context.fetch(From<Media.Disc>().select(\.title, \.shelf?.name, \.slot?.width))
    _ = try context.fetch(From<Jar>().values(Jar.Values.self))
    try context.forEach(From<ChestItem>(), inBatchesOf: 2) { _ = $0.notes }
    context.refreshAllObjects()
  }
}
