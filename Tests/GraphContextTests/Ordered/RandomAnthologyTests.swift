import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of many-to-many relationships that are ordered at both ends, by two contexts and a child, with undo, beside arrays.
struct RandomAnthologyTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(700, long: 1_500)

  @Test(arguments: [true, false])
  func listsAreWhatArraysAre(_ isInMemory: Bool) async throws {
    let folder = try TemporaryFolder()
    let location =
      isInMemory ? StoreLocation.inMemory : .file(URL(fileURLWithPath: folder.file("books.cambium")))
    let container = try await PersistentContainer("Books", models: Anthology.self, Poem.self, at: location)
    let run = try AnthologyRun(container, SeededGenerator())
    for _ in 0..<Self.stepCount { try run.step() }
    try run.finish()
    try run.compare()
    #expect(try await container.verify().map(\.description) == [])
  }
}

/// What the lists are: the titles of each book, and the books of each poem.
private struct ShownBooks: Equatable {
  var titles: [[String]] = [[], [], []]
  var books: [String: [Int]] = [:]

  mutating func add(_ title: String, to book: Int, at position: Int) {
    if let known = titles[book].firstIndex(of: title) {
      titles[book].remove(at: known)
    } else {
      books[title, default: []].append(book)
    }
    titles[book].insert(title, at: position)
  }

  mutating func remove(_ title: String, from book: Int) {
    titles[book].removeAll { $0 == title }
    books[title]?.removeAll { $0 == book }
  }

  mutating func delete(_ title: String) {
    for book in titles.indices { titles[book].removeAll { $0 == title } }
    books[title] = nil
  }
}

private final class AnthologyRun: ContextTurns<ShownBooks> {
  private var ids: [ManagedObjectID] = []
  private var nextTitle = 0

  init(_ container: PersistentContainer, _ generator: SeededGenerator) throws {
    try super.init(container, generator, ShownBooks())
    let books = ["0", "1", "2"].map(Anthology.init)
    for book in books { contexts[0].insert(book) }
    try contexts[0].save()
    ids = books.map(\.objectID)
    for context in contexts { context.undoManager = ContextUndoManager() }
  }

  private func book(_ index: Int) throws -> Anthology { try context.object(Anthology.self, with: ids[index]) }

  private func poem(_ title: String) throws -> Poem {
    try #require(try context.fetch(From<Poem>().where { $0.title == title }).first)
  }

  func step() throws {
    let before = shown
    context.processPendingChanges()
    guard try change() else { return }
    guard generator.chance(1, in: 4), shown != before, context.undoManager != nil else { return }
    let after = shown
    #expect(context.undo())
    shown = before
    try compare()
    if generator.chance(1, in: 2) { return }
    #expect(context.redo())
    shown = after
    try compare()
  }

  /// Returns true for a change that can be undone.
  private func change() throws -> Bool {
    let index = generator.number(in: 0...2)
    let book = try book(index)
    let count = shown.titles[index].count
    switch generator.number(in: 0...15) {
    case 0, 1:
      let position = generator.pick([0, count / 2, count, generator.number(in: 0...count)])
      let titles = (0..<generator.number(in: 1...3)).map { "\(nextTitle + $0)" }
      nextTitle += titles.count
      book.poems.insert(contentsOf: titles.map(Poem.init), at: position)
      for (place, title) in titles.enumerated() { shown.add(title, to: index, at: position + place) }
      return true
    case 2, 3:
      guard count > 0 else { return false }
      let (old, new) = (generator.number(in: 0...count - 1), generator.number(in: 0...count - 1))
      book.poems.move(from: old, to: new)
      shown.add(shown.titles[index][old], to: index, at: new)
      return true
    case 4, 5:
      guard let title = shown.books.keys.sorted().randomElement(using: &generator) else { return false }
      let others = shown.titles[index].count { $0 != title }
      let position = generator.number(in: 0...others)
      book.poems.insert(try poem(title), at: position)
      shown.add(title, to: index, at: position)
      return true
    case 6:
      guard count > 0 else { return false }
      let position = generator.number(in: 0...count - 1)
      book.poems.remove(at: position)
      shown.remove(shown.titles[index][position], from: index)
      return true
    case 7:
      guard let title = shown.titles[index].randomElement(using: &generator) else { return false }
      context.delete(try poem(title))
      shown.delete(title)
      return true
    case 8:
      shown.titles[index].shuffle(using: &generator)
      let byTitle = Dictionary(uniqueKeysWithValues: book.poems.map { ($0.title, $0) })
      book.poems = OrderedToMany(_relatedObjects: shown.titles[index].compactMap { byTitle[$0] })
      return true
    case 9:
      guard let title = shown.books.keys.sorted().randomElement(using: &generator) else { return false }
      let books = shown.books[title] ?? []
      let position = generator.number(in: 0...books.count { $0 != index })
      try poem(title).books.insert(book, at: position)
      if !books.contains(index) { shown.titles[index].append(title) }
      shown.books[title] = books.filter { $0 != index }
      shown.books[title]?.insert(index, at: position)
      return true
    case 10:
      guard child == nil else { return false }
      rollBackContext()
      if generator.chance(1, in: 2) { try handOverAndCompare() }
    case 11:
      guard child == nil else { return false }
      try saveContext()
      if generator.chance(1, in: 2) { try handOverAndCompare() }
    case 12:
      if child == nil {
        makeChild()
        context.undoManager = ContextUndoManager()
      } else if generator.chance(1, in: 4) {
        try endChild(saving: false)
      } else {
        try endChild(saving: true)
        contexts[current].processPendingChanges()
      }
    case 13:
      let (from, to) = (generator.number(in: 0...count), generator.number(in: 0...count))
      let range = min(from, to)..<max(from, to)
      #expect(book.poems[range].map(\.title) == Array(shown.titles[index][range]))
      guard count > 0 else { return false }
      let position = generator.number(in: 0...count - 1)
      #expect(book.poems.firstIndex(of: book.poems[position]) == position)
    case 14:
      guard let title = shown.titles[index].randomElement(using: &generator) else { return false }
      try poem(title).plays += 1
      return false
    default: try compare()
    }
    return false
  }

  private func handOverAndCompare() throws {
    try handOver()
    try compare()
  }

  func compare() throws {
    for (index, titles) in shown.titles.enumerated() {
      let book = try book(index)
      #expect(book.titles == titles)
      #expect(book.poems.count == titles.count)
    }
    for poem in try context.fetch(From<Poem>()) {
      #expect(poem.bookNames == (shown.books[poem.title] ?? []).map(String.init))
    }
  }
}
