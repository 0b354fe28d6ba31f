import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

// Batches, and saves that merge with objects of the store.

extension MediaRun {
  func batchUpdate() async throws {
    guard try saveAll() else { return }
    let limit = generator.number(in: 0...9)
    let title = "B\(limit)"
    switch generator.number(in: 0...2) {
    case 0:
      try await container.batchUpdate(
        From<Media.Item>().where { $0.year < limit && $0.tags.contains("x") },
        .set(\.title, to: title),
        .set(\.year) { $0.year + 1 }
      )
      for item in shown.items.values where item.year < limit && item.tags.contains("x") {
        shown.items[item.code]?.title = title
        shown.items[item.code]?.year += 1
      }
    case 1:
      try await container.batchUpdate(
        From<Media.Book>().where { $0.year < limit },
        .set(\.motto, to: title),
        .set(\.spine.width, to: limit),
        .set(\.pages) { $0.pages + 1 }
      )
      for item in shown.items(of: "Book") where item.year < limit {
        shown.items[item.code]?.motto = title
        shown.items[item.code]?.spine.width = limit
        shown.items[item.code]?.pages += 1
      }
    default:
      try await container.batchUpdate(
        From<Media.Tune>().where { $0.seconds < limit },
        .set(\.seconds, to: 20)
      )
      for item in shown.items(of: "Disc") {
        shown.items[item.code]?.tracks = item.tracks.map { $0 < limit ? 20 : $0 }.sorted()
      }
    }
    try follow()
  }

  func batchDelete() async throws {
    guard try saveAll() else { return }
    let (tag, year) = (generator.pick(Self.words), generator.number(in: 0...9))
    switch generator.number(in: 0...2) {
    case 0:
      try await container.batchDelete(From<Media.Item>().where { $0.tags.contains(tag) && $0.year == year })
      for item in shown.items.values where item.tags.contains(tag) && item.year == year {
        shown.remove(item.code)
      }
    case 1:
      try await container.batchDelete(From<Media.Book>().where { $0.words.contains(tag) && $0.year < year })
      for item in shown.items(of: "Book") where item.words.contains(tag) && item.year < year {
        shown.remove(item.code)
      }
    default:
      try await container.batchDelete(From<Media.Note>().where { $0.weight == year })
      for item in shown.items(of: "Book") {
        shown.items[item.code]?.notes.removeAll { $0.utf8.count == year }
      }
    }
    try follow()
  }

  func batchInsert() async throws {
    guard try saveAll() else { return }
    var rows: [PlainMedium] = []
    for _ in 0..<generator.number(in: 1...5) {
      var row = PlainMedium(.atlas, nextCode)
      nextCode += 1
      row.title = "N"
      row.tags = list()
      row.words = list()
      row.cover = bytes()
      rows.append(row)
    }
    let name = generator.pick(Self.names)
    let shelf = try shelf(name).objectID
    try await container.batchInsert(
      Media.Atlas.self,
      from: rows,
      .set(\.code) { $0.code },
      .set(\.title) { $0.title },
      .set(\.tags) { $0.tags },
      .set(\.words) { $0.words },
      .set(\.cover) { $0.cover },
      .set(\.shelf) { _ in shelf }
    )
    for row in rows { shown.items[row.code] = row }
    // The positions of the new items depend on those of the other items, because the program may have moved an item
    // to the end.
    try contexts[current].refresh()
    let order = try self.shelf(name).items.map(\.code)
    let new = rows.map(\.code)
    try #require(order.filter { !new.contains($0) } == shown.shelves[name])
    try #require(order.filter(new.contains) == new)
    shown.shelves[name] = order
    try follow()
  }

  /// Inserts a new object with the code of an object in the store. The save unifies the new object with the existing
  /// one if this one has its class or a class below it. Otherwise the save is refused.
  func insertExisting() throws {
    guard try saveAll(), let code = anyCode(), let known = shown.items[code] else { return }
    var plain = PlainMedium(generator.pick(PlainMedium.Kind.allCases), code)
    let item = plain.makeObject()
    plain.title = "E"
    plain.tags = list()
    item.title = plain.title
    item.tags = plain.tags
    context.insert(item)
    guard known.kind.names.contains(plain.kind.rawValue) else {
      let error = #expect(throws: ContextError.self) { try contexts[current].save() }
      #expect(error?.code == .notUnique)
      contexts[current].rollback()
      forgetUndo()
      return try compare()
    }
    try contexts[current].save()
    shown.items[code]?.title = plain.title
    if !plain.tags.isEmpty { shown.items[code]?.tags = plain.tags }
    saved = shown
    forgetUndo()
    try compare()
  }

  /// Changes different properties of one object in two contexts.
  func mergeDisjointChanges() throws {
    guard try saveAll(), let code = anyCode() else { return }
    let other = contexts[1 - current]
    try other.refresh()
    let (mine, theirs) = (try item(code), try item(code, in: other))
    let (cover, tags) = (bytes(), list())
    theirs.cover = cover
    theirs.title = "Theirs"
    theirs.size = Media.Size(width: 8)
    mine.tags = tags
    mine.year = 3
    if let book = theirs as? Media.Book { book.notes.append(PlainMedium.note("theirs")) }
    if let disc = mine as? Media.Disc { contexts[current].insert(Media.Tune(7, on: disc)) }
    try contexts[current].save()
    try other.save()
    shown.items[code]?.cover = cover
    shown.items[code]?.title = "Theirs"
    shown.items[code]?.size = Media.Size(width: 8)
    shown.items[code]?.tags = tags
    shown.items[code]?.year = 3
    if shown.items[code]?.kind.isBook == true {
      shown.items[code]?.notes.append("theirs")
    } else {
      let tracks = shown.items[code]?.tracks ?? []
      shown.items[code]?.tracks = (tracks + [7]).sorted()
    }
    undoManagers[1 - current].removeAllActions()
    forgetUndo()
    try follow()
  }

  /// Changes the title, the tags and the cover of one object in two contexts, and in one of them its year, too.
  func mergeConflictingChanges() throws {
    guard try saveAll(), let code = anyCode(), var plain = shown.items[code] else { return }
    let policy = generator.pick([
      MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback,
    ])
    let other = contexts[1 - current]
    try other.refresh()
    let (mine, theirs) = (try item(code), try item(code, in: other))
    // A value that the object doesn't have yet, because setting an equal value is no change. Other steps make titles
    // of a T and a number.
    defer { nextCode += 1 }
    func set(_ item: Media.Item, _ plain: inout PlainMedium, _ name: String) {
      plain.title = "\(name)\(nextCode)"
      plain.tags = [plain.title, "x"]
      plain.cover = Data(plain.title.utf8) + Data(repeating: 1, count: generator.pick([0, 600, 70_000]))
      item.title = plain.title
      item.tags = plain.tags
      item.cover = plain.cover
    }
    set(mine, &plain, "Mine")
    var theirPlain = plain
    set(theirs, &theirPlain, "Theirs")
    theirPlain.year = nextCode
    theirs.year = nextCode
    try contexts[current].save()
    other.mergePolicy = policy
    defer { other.mergePolicy = .error }
    do {
      try other.save()
      #expect(policy != .error)
    } catch {
      #expect(policy == .error && error.code == .conflict, "\(error)")
      other.rollback()
    }
    if policy == .mergeByPropertyObjectTrump { plain = theirPlain }
    if policy == .mergeByPropertyStoreTrump { plain.year = nextCode }
    shown.items[code] = plain
    undoManagers[1 - current].removeAllActions()
    forgetUndo()
    try follow()
  }
}
