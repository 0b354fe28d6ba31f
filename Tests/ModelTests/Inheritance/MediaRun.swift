import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

final class MediaRun: UndoableTurns<PlainShelves> {
  static let names = ["A", "B", "C"]
  static let words = ["x", "y", "z", "xy", ""]

  let url: URL
  private(set) var container: PersistentContainer
  var nextCode = 0

  init(_ url: URL, _ generator: SeededGenerator) async throws {
    self.url = url
    let container = try await Media.open(.file(url))
    self.container = container
    try super.init(container, generator, PlainShelves())
    for name in Self.names {
      contexts[0].insert(Media.Shelf(name))
      shown.shelves[name] = []
    }
    _ = try saveAll()
    try contexts[1].refresh()
  }

  func item(_ code: Int, in context: ManagedObjectContext? = nil) throws -> Media.Item {
    let request = From<Media.Item>().where { $0.code == code }
    return try #require(try (context ?? self.context).fetch(request).first)
  }

  func shelf(_ name: String) throws -> Media.Shelf {
    try #require(try context.fetch(From<Media.Shelf>().where { $0.name == name }).first)
  }

  func anyCode() -> Int? { shown.items.keys.sorted().randomElement(using: &generator) }

  // MARK: - Random values

  func list() -> [String] {
    (0..<generator.number(in: 0...3)).map { _ in generator.pick(Self.words) }
  }

  func bytes() -> Data? {
    if generator.chance(1, in: 4) { return nil }
    let byte = UInt8(generator.number(in: 0...255))
    return Data(repeating: byte, count: generator.pick([0, 1, 512, 513, 70_000]))
  }

  func size() -> Media.Size {
    let note = generator.chance(1, in: 2) ? nil : generator.pick(Self.words)
    return Media.Size(
      width: generator.number(in: 0...5),
      depth: generator.number(in: 0...5),
      note: note
    )
  }

  /// Changes a value as a whole, or a part of it.
  func change(_ value: inout Media.Size?) {
    switch generator.number(in: 0...2) {
    case 0: value = nil
    case 1: value = size()
    default: value?.depth += 1
    }
  }

  func makeMedium() -> PlainMedium {
    defer { nextCode += 1 }
    return PlainMedium(generator.pick(PlainMedium.Kind.allCases), nextCode)
  }

  func change(_ item: Media.Item, _ plain: inout PlainMedium) throws {
    func happens() -> Bool { generator.chance(1, in: 2) }
    if happens() {
      plain.title = "t\(generator.number(in: 0...20))".uppercased()
      item.title = plain.title
    }
    if happens() {
      plain.year = generator.number(in: 0...9)
      item.year = plain.year
    }
    if happens() {
      plain.tags = list()
      item.tags = plain.tags
    }
    if happens() {
      plain.cover = bytes()
      item.cover = plain.cover
    }
    if happens() {
      change(&plain.size)
      item.size = plain.size
    }
    if let book = item as? Media.Book { try change(book, &plain) }
    if let atlas = item as? Media.Atlas, happens() {
      plain.scale = generator.number(in: 1...5)
      atlas.scale = plain.scale
      plain.edition += 1
      atlas.edition += 1
    }
    if let disc = item as? Media.Disc {
      if happens() {
        plain.minutes = generator.number(in: 1...90)
        disc.minutes = plain.minutes
      }
      if happens() {
        change(&plain.slot)
        disc.slot = plain.slot
      }
      if happens() {
        plain.mark = generator.pick(Self.words)
        disc.mark = plain.mark
      }
      if happens() { changeTracks(of: disc, &plain) }
    }
  }

  func change(_ book: Media.Book, _ plain: inout PlainMedium) throws {
    func happens() -> Bool { generator.chance(1, in: 2) }
    if happens() {
      plain.pages = generator.number(in: 0...9)
      book.pages = plain.pages
    }
    if happens() {
      plain.words = list()
      book.words = plain.words
    }
    if happens() {
      plain.motto = generator.chance(1, in: 3) ? nil : "M\(generator.number(in: 0...9))"
      book.motto = plain.motto
    }
    if happens() {
      plain.spine = size()
      book.spine = plain.spine
    }
    if happens() {
      plain.isbn = generator.chance(1, in: 2) ? nil : plain.code + 1_000
      book.isbn = plain.isbn
    }
    if happens() {
      plain.text =
        generator.chance(1, in: 3) ? nil : String(repeating: "é", count: generator.pick([0, 3, 900]))
      book.text = plain.text
    }
    if happens() { changeNotes(of: book, &plain) }
    if happens() {
      plain.fans = Set(Self.names.filter { _ in happens() })
      book.fans = try plain.fans.sorted().map(shelf)
    }
  }

  func changeNotes(of book: Media.Book, _ plain: inout PlainMedium) {
    let count = plain.notes.count
    switch generator.number(in: 0...3) {
    case 0, 1:
      let text = String(repeating: "n", count: generator.number(in: 0...3)) + "\(generator.number(in: 0...9))"
      let position = generator.number(in: 0...count)
      book.notes.insert(PlainMedium.note(text), at: position)
      plain.notes.insert(text, at: position)
    case 2 where count > 0:
      let position = generator.number(in: 0...count - 1)
      // Two ways of losing a note.
      if generator.chance(1, in: 2) {
        context.delete(book.notes[position])
      } else {
        book.notes.remove(at: position)
      }
      plain.notes.remove(at: position)
    case 3 where count > 1:
      book.notes.reverse()
      plain.notes.reverse()
    default: break
    }
  }

  func changeTracks(of disc: Media.Disc, _ plain: inout PlainMedium) {
    if generator.chance(1, in: 3), let old = plain.tracks.randomElement(using: &generator) {
      if let tune = disc.tracks.first(where: { $0.seconds == old }) { context.delete(tune) }
      plain.tracks.remove(at: plain.tracks.firstIndex(of: old) ?? 0)
    } else {
      let seconds = generator.number(in: 0...9)
      let tune = Media.Tune(seconds, on: disc)
      // Two ways of joining the disc in its context.
      if generator.chance(1, in: 2) { context.insert(tune) } else { disc.tracks.append(tune) }
      plain.tracks = (plain.tracks + [seconds]).sorted()
    }
  }

  // MARK: - Steps

  func step() async throws {
    switch generator.number(in: 0...27) {
    case 0...3: try edit(insertItem)
    case 4...8: try edit(changeItem)
    case 9, 10: try edit(moveItem)
    case 11: try edit(deleteItem)
    case 12: try edit(emptyShelf)
    case 13, 14: try save()
    case 15: try rollBack()
    case 16:
      try useChild()
      try compare()
    case 17: try await batchUpdate()
    case 18: try await batchDelete()
    case 19: try await batchInsert()
    case 20, 21:
      undoOrRedo()
      try compare()
    case 22: try mergeDisjointChanges()
    case 23: try insertExisting()
    case 24: try await reopen()
    case 25: try mergeConflictingChanges()
    default: try compare()
    }
  }

  func insertItem() throws {
    var plain = makeMedium()
    let item = plain.makeObject()
    context.insert(item)
    try change(item, &plain)
    shown.items[plain.code] = plain
    guard generator.chance(3, in: 4) else { return }
    let name = generator.pick(Self.names)
    let shelf = try shelf(name)
    let position = generator.number(in: 0...shelf.items.count)
    shelf.items.insert(item, at: position)
    shown.shelves[name]?.insert(plain.code, at: position)
  }

  func changeItem() throws {
    guard let code = anyCode(), var plain = shown.items[code] else { return }
    try change(try item(code), &plain)
    shown.items[code] = plain
  }

  func moveItem() throws {
    guard let code = anyCode() else { return }
    let item = try item(code)
    shown.takeOut(code)
    if generator.chance(1, in: 5) {
      item.shelf = nil
      return
    }
    let name = generator.pick(Self.names)
    let shelf = try shelf(name)
    if let old = shelf.items.firstIndex(of: item) { shelf.items.remove(at: old) }
    let position = generator.number(in: 0...shelf.items.count)
    shelf.items.insert(item, at: position)
    shown.shelves[name]?.insert(code, at: position)
  }

  func deleteItem() throws {
    guard let code = anyCode() else { return }
    context.delete(try item(code))
    shown.remove(code)
  }

  /// Deletes a shelf with its items, and makes another of its name.
  func emptyShelf() throws {
    guard generator.chance(1, in: 3) else { return }
    let name = generator.pick(Self.names)
    context.delete(try shelf(name))
    shown.empty(name)
    context.insert(Media.Shelf(name))
  }

  func save() throws {
    guard try saveAll() else { return }
    try compareStored()
    if generator.chance(1, in: 2) {
      try handOver()
      try compare()
    }
  }

  func rollBack() throws {
    guard child == nil else { return }
    rollBackContext()
    forgetUndo()
    try compare()
  }

  func follow() throws {
    try contexts[current].refresh()
    saved = shown
    try compare()
    try compareStored()
  }

  func reopen() async throws {
    guard try saveAll() else { return }
    endContexts()
    try await container.close()
    container = try await Media.open(.file(url))
    try makeContexts(of: container)
    forgetUndo()
    try compare()
    try compareStored()
  }

  /// Saves all changes, opens the store again, and lets the other context continue.
  func reopenAndFinish() async throws {
    try endChild(saving: true)
    try await reopen()
    #expect(try await container.verify().map(\.description) == [])
    try handOver()
    try compare()
  }
}
