import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The operations that `OrderedToMany` shares with arrays, beside an array of titles.
struct OrderedArrayTests {
  /// Makes one random change of the list and of the array.
  private static func step(
    _ list: inout OrderedToMany<Poem>,
    _ titles: inout [String],
    _ random: inout SeededGenerator
  ) {
    let count = titles.count
    func position(_ random: inout SeededGenerator) -> Int { random.number(in: 0...count - 1) }
    switch count < 3 ? 9 : random.number(in: 0...9) {
    case 0: #expect(list.removeFirst().title == titles.removeFirst())
    case 1: #expect(list.removeLast().title == titles.removeLast())
    case 2:
      let start = position(&random)
      list.removeSubrange(start..<min(count, start + 2))
      titles.removeSubrange(start..<min(count, start + 2))
    case 3:
      let (one, other) = (position(&random), position(&random))
      list.swapAt(one, other)
      titles.swapAt(one, other)
    case 4:
      list.reverse()
      titles.reverse()
    case 5:
      list.sort { ($0.title.count, $0.title) < ($1.title.count, $1.title) }
      titles.sort { ($0.count, $0) < ($1.count, $1) }
    case 6:
      let last = String(random.number(in: 0...9))
      list.removeAll { $0.title.hasSuffix(last) }
      titles.removeAll { $0.hasSuffix(last) }
    case 7:
      // A member moves to the place of another.
      let (from, to) = (position(&random), position(&random))
      list[to] = list[from]
      let moved = titles[from]
      if from != to {
        titles[to] = moved
        titles.remove(at: from)
      }
    case 8:
      let (place, title) = (position(&random), "m\(random.next())")
      list[place] = Poem(title)
      titles[place] = title
    default:
      let new = (0..<4).map { _ in "n\(random.next())" }
      list.append(contentsOf: new.map(Poem.init))
      titles += new
    }
  }

  private static func compare(_ list: OrderedToMany<Poem>, _ titles: [String]) {
    #expect(list.map(\.title) == titles)
    #expect(list.indices == titles.indices)
    #expect(list.first?.title == titles.first && list.last?.title == titles.last)
    if titles.count > 3 {
      #expect(list[1...2].map(\.title) == Array(titles[1...2]))
      #expect(list[..<3].map(\.title) == Array(titles[..<3]))
      #expect(list[2...].map(\.title) == Array(titles[2...]))
    }
  }

  @Test(arguments: [false, true])
  func aListChangesAsAnArrayDoes(isInContext: Bool) async throws {
    var random = SeededGenerator()
    let container = try await PersistentContainer(
      "Books",
      models: Anthology.self,
      Poem.self,
      at: .inMemory
    )
    let context = try container.context()
    let book = Anthology("A")
    if isInContext { context.insert(book) }
    var titles: [String] = []
    for step in 0..<300 {
      Self.step(&book.poems, &titles, &random)
      Self.compare(book.poems, titles)
      if isInContext, step % 20 == 0 {
        try context.save()
        Self.compare(book.poems, titles)
      }
    }
    book.poems.removeAll()
    #expect(book.poems.isEmpty && book.poems.first == nil && book.poems.last == nil)
    if isInContext { try context.save() }
    #expect(try await container.verify().map(\.description) == [])
  }

  /// A list that was taken from an object before another context deleted the object: an insertion doesn't trap at a
  /// position that was valid, and is a failure.
  @Test func insertingIntoTheListOfAGoneOwnerIsAFailure() async throws {
    let container = try await PersistentContainer(
      "Books",
      models: Anthology.self,
      Poem.self,
      at: .inMemory
    )
    let context = try container.context()
    let book = Anthology("A")
    context.insert(book)
    book.poems = OrderedToMany(["a", "b"].map(Poem.init))
    try context.save()
    var list = book.poems
    let position = list.count
    let id = book.objectID
    try await container.write { context in
      context.delete(try context.existingObject(Anthology.self, with: id))
    }
    try context.refresh()
    #expect(book.isDeleted && position == 2)
    list.insert(Poem("c"), at: position)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .objectNotFound)
  }
}
