import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of objects that have a list with an index, a place in an ordered list, external values, a coded value and a unique one, beside
/// plain values: by two contexts, a child, batches, undoing and redoing.
struct MixedKindTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(400, long: 4_000)

  @Test func kindsGoTogether() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("chests.cambium"))
    let container = try await PersistentContainer(
      "Chests",
      models: Chest.self,
      ChestItem.self,
      Jar.self,
      Sticker.self,
      at: url
    )
    let run = try MixedRun(container, SeededGenerator())
    for step in 0..<Self.stepCount {
      try await run.step()
      if step % 100 == 99 { #expect(try await container.verify().map(\.description) == []) }
    }
    try run.finish()
    try run.compare()
    #expect(run.coverage.missing == [], "\(run.coverage.table)")
    #expect(try await container.verify().map(\.description) == [])
  }
}

final class MixedRun: UndoableTurns<PlainChests> {
  static let chestNames = ["A", "B", "C"]
  private static let words = ["red", "green", "blue", "fragile"]
  static let tagNames = ["x", "y", "z", "xy", ""]

  private let container: PersistentContainer
  private(set) var coverage = MixedCoverage()
  private var nextCode = 0

  init(_ container: PersistentContainer, _ generator: SeededGenerator) throws {
    self.container = container
    try super.init(container, generator, PlainChests())
    for word in Self.words { contexts[0].insert(Sticker(word)) }
    for name in Self.chestNames {
      contexts[0].insert(Chest(name))
      shown.chests[name] = []
    }
    _ = try saveAll()
    try contexts[1].refresh()
  }

  private func item(_ code: Int, in context: ManagedObjectContext? = nil) throws -> ChestItem {
    let request = From<ChestItem>().where { $0.code == code }
    return try #require(try (context ?? self.context).fetch(request).first)
  }

  func chest(_ name: String) throws -> Chest {
    let request = From<Chest>().where { $0.name == name }
    return try #require(try context.fetch(request).first)
  }

  // MARK: - Random values

  private func tags() -> [String] {
    (0..<generator.number(in: 0...3)).map { _ in generator.pick(Self.tagNames) }
  }

  private func photo() -> Data? {
    let count = generator.pick([0, 1, 512, 513, 3_000, 70_000])
    if generator.chance(1, in: 4) { return nil }
    let byte = UInt8(generator.number(in: 0...255))
    return Data((0..<count).map { UInt8(truncatingIfNeeded: $0) &+ byte })
  }

  private func notes() -> String {
    String(repeating: generator.pick(["a", "é", "~"]), count: generator.pick([0, 3, 300, 900]))
  }

  private func packing() -> Packing? {
    generator.chance(1, in: 3) ? nil : Packing(material: "m\(generator.number(in: 0...9))", layers: [1, 2])
  }

  // MARK: - Steps

  func step() async throws {
    let (before, isChild) = (shown, child != nil)
    let number = generator.number(in: 0...24)
    try await step(number)
    coverage.note(before, shown, MixedCoverage.Way(step: number, isChild: isChild))
  }

  private func step(_ number: Int) async throws {
    switch number {
    case 0...3: try edit(insertItem)
    case 4...8: try edit(changeItem)
    case 9, 10: try edit(moveItem)
    case 11: try edit(deleteItem)
    case 12: try edit(emptyChest)
    case 13, 14: try save()
    case 15: rollBack()
    case 16: try useChild()
    case 17: try await batchUpdate()
    case 18: try await batchDelete()
    case 19: try await batchInsert()
    case 20, 21:
      undoOrRedo()
      try compare()
    case 22: try mergeDisjointChanges()
    case 23: try insertExisting()
    default: try compare()
    }
  }

  private func set(_ item: ChestItem, _ plain: inout PlainItem) throws {
    if generator.chance(1, in: 2) {
      plain.title = "\(generator.pick(["t", "T"]))\(generator.number(in: 0...99))"
      item.title = plain.title
    }
    if generator.chance(1, in: 2) {
      plain.tags = tags()
      item.tags = plain.tags
    }
    if generator.chance(1, in: 2) {
      plain.weight = generator.number(in: 0...9)
      item.weight = plain.weight
    }
    if generator.chance(1, in: 2) {
      plain.photo = photo()
      item.photo = plain.photo
    }
    if generator.chance(1, in: 3) {
      plain.size = generator.chance(1, in: 3) ? nil : ItemSize(width: generator.number(in: 0...5))
      item.size = plain.size
    }
    if generator.chance(1, in: 3), plain.size != nil {
      let isRough = generator.pick([true, false, nil])
      plain.size?.isRough = isRough
      item.size?.isRough = isRough
    }
    if generator.chance(1, in: 3), plain.size != nil {
      let grip = ItemGrip(side: generator.pick(Self.words), depth: generator.pick([nil, 1, 2, 3]))
      plain.size?.grip.depth = grip.depth
      item.size?.grip.depth = grip.depth
      if generator.chance(1, in: 2) {
        plain.size?.grip = grip
        item.size?.grip = grip
      }
    }
    if generator.chance(1, in: 3) {
      plain.notes = notes()
      item.notes = plain.notes
    }
    if generator.chance(1, in: 3) {
      plain.packing = packing()
      item.packing = plain.packing
    }
    if generator.chance(1, in: 3) {
      plain.tint = generator.chance(1, in: 3) ? nil : ItemTint(red: generator.number(in: 0...30))
      item.tint = plain.tint
    }
    if let jar = item as? Jar, generator.chance(1, in: 2) {
      plain.volume = generator.pick([nil, 1, 2, 3])
      jar.volume = plain.volume
    }
    if generator.chance(1, in: 3) {
      plain.stickers = Set(Self.words.filter { _ in generator.chance(1, in: 2) })
      let stickers = try context.fetch(From<Sticker>()).filter { plain.stickers.contains($0.word) }
      item.stickers = Set(stickers)
    }
  }

  private func insertItem() throws {
    var plain = PlainItem(code: nextCode, isJar: generator.chance(1, in: 3))
    nextCode += 1
    let item = plain.isJar ? Jar(plain.code) : ChestItem(plain.code)
    context.insert(item)
    try set(item, &plain)
    shown.items[plain.code] = plain
    guard generator.chance(3, in: 4) else { return }
    let name = generator.pick(Self.chestNames)
    let chest = try chest(name)
    let position = generator.number(in: 0...chest.items.count)
    chest.items.insert(item, at: position)
    shown.chests[name]?.insert(plain.code, at: position)
  }

  private func anyCode() -> Int? { shown.items.keys.sorted().randomElement(using: &generator) }

  private func changeItem() throws {
    guard let code = anyCode(), var plain = shown.items[code] else { return }
    try set(try item(code), &plain)
    shown.items[code] = plain
  }

  private func moveItem() throws {
    guard let code = anyCode() else { return }
    let item = try item(code)
    shown.takeOut(code)
    if generator.chance(1, in: 5) {
      item.chest = nil
      return
    }
    let name = generator.pick(Self.chestNames)
    let chest = try chest(name)
    if let old = chest.items.firstIndex(of: item) { chest.items.remove(at: old) }
    let position = generator.number(in: 0...chest.items.count)
    chest.items.insert(item, at: position)
    shown.chests[name]?.insert(code, at: position)
  }

  private func deleteItem() throws {
    guard let code = anyCode() else { return }
    context.delete(try item(code))
    shown.remove(code)
  }

  /// Deletes a chest with its items, and makes another of its name.
  private func emptyChest() throws {
    guard generator.chance(1, in: 3) else { return }
    let name = generator.pick(Self.chestNames)
    context.delete(try chest(name))
    for code in shown.chests[name] ?? [] { shown.items[code] = nil }
    shown.chests[name] = []
    context.insert(Chest(name))
  }

  private func save() throws {
    guard child == nil else { return }
    try saveContext()
    try compareDerived()
    if generator.chance(1, in: 2) {
      try handOver()
      try compare()
    }
  }

  private func rollBack() {
    guard child == nil else { return }
    rollBackContext()
    forgetUndo()
  }

  private func follow() throws {
    try contexts[current].refresh()
    saved = shown
    try compare()
    try compareDerived()
  }

  private func batchUpdate() async throws {
    guard try saveAll() else { return }
    let limit = generator.number(in: 0...9)
    let title = "b\(limit)"
    let isTagged = generator.chance(1, in: 2)
    let request =
      isTagged
      ? From<ChestItem>().where { $0.tags.contains("x") && $0.weight < limit }
      : From<ChestItem>().where { $0.weight < limit }
    try await container.batchUpdate(request, .set(\.weight) { $0.weight + 1 }, .set(\.title, to: title))
    for (code, item) in shown.items where item.weight < limit && (!isTagged || item.tags.contains("x")) {
      shown.items[code]?.weight += 1
      shown.items[code]?.title = title
    }
    try follow()
  }

  private func batchDelete() async throws {
    guard try saveAll() else { return }
    let tag = generator.pick(Self.tagNames)
    let weight = generator.number(in: 0...9)
    let request = From<ChestItem>().where { $0.tags.contains(tag) && $0.weight == weight }
    let deleted = try await container.batchDelete(request)
    let codes = shown.items.values.filter { $0.tags.contains(tag) && $0.weight == weight }.map(\.code)
    #expect(deleted.count == codes.count)
    for code in codes { shown.remove(code) }
    try follow()
  }

  private func batchInsert() async throws {
    guard try saveAll() else { return }
    var rows: [PlainItem] = []
    for _ in 0..<generator.number(in: 1...5) {
      if generator.chance(1, in: 2), let code = anyCode() {
        rows.append(
          PlainItem(code: code, title: "m\(code)", tags: tags(), weight: generator.number(in: 0...9))
        )
      } else {
        rows.append(
          PlainItem(code: nextCode, title: "n", tags: tags(), weight: 3, photo: photo(), notes: notes())
        )
        nextCode += 1
      }
    }
    try await container.batchInsert(
      ChestItem.self,
      from: rows,
      .set(\.code) { $0.code },
      .set(\.title) { $0.title },
      .set(\.tags) { $0.tags },
      .set(\.weight) { $0.weight },
      .set(\.photo) { $0.photo },
      .set(\.notes) { $0.notes }
    )
    for row in rows { merge(row) }
    try follow()
  }

  /// Merges an object with an existing code: the existing object gets its values that aren't defaults.
  private func merge(_ row: PlainItem) {
    var item = shown.items[row.code] ?? PlainItem(code: row.code)
    if row.title != "" { item.title = row.title }
    if row.tags != [] { item.tags = row.tags }
    if row.weight != 0 { item.weight = row.weight }
    if row.photo != nil { item.photo = row.photo }
    if row.notes != "" { item.notes = row.notes }
    shown.items[row.code] = item
  }

  /// Inserts a new object with the code of an object in the store. The save unifies them.
  private func insertExisting() throws {
    guard try saveAll(), let code = anyCode() else { return }
    let item = ChestItem(code)
    let plain = PlainItem(code: code, title: "e", tags: tags(), weight: 7, photo: photo(), notes: notes())
    item.title = plain.title
    item.tags = plain.tags
    item.weight = plain.weight
    item.photo = plain.photo
    item.notes = plain.notes
    context.insert(item)
    try contexts[current].save()
    merge(plain)
    saved = shown
    forgetUndo()
    try compare()
  }

  /// Changes different properties of one object in two contexts.
  private func mergeDisjointChanges() throws {
    guard try saveAll(), let code = anyCode() else { return }
    let other = contexts[1 - current]
    try other.refresh()
    let (mine, theirs) = (try item(code), try item(code, in: other))
    let (photo, tags) = (photo(), tags())
    let isSized = shown.items[code]?.size != nil
    theirs.photo = photo
    theirs.size?.unit = "m"
    theirs.size?.grip.side = "theirs"
    theirs.weight = 8
    mine.tags = tags
    mine.notes = "mine"
    mine.size?.width = 6
    mine.size?.grip.depth = 9
    let name = generator.pick(Self.chestNames)
    let chest = try chest(name)
    if let old = chest.items.firstIndex(of: mine) { chest.items.remove(at: old) }
    chest.items.insert(mine, at: 0)
    try contexts[current].save()
    try other.save()
    shown.takeOut(code)
    shown.chests[name]?.insert(code, at: 0)
    shown.items[code]?.photo = photo
    if isSized {
      shown.items[code]?.size?.unit = "m"
      shown.items[code]?.size?.width = 6
      shown.items[code]?.size?.grip = ItemGrip(side: "theirs", depth: 9)
    }
    shown.items[code]?.weight = 8
    shown.items[code]?.tags = tags
    shown.items[code]?.notes = "mine"
    undoManagers[1 - current].removeAllActions()
    forgetUndo()
    try follow()
  }
}
