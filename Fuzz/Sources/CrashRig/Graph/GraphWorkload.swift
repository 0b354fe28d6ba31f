import Foundation
import GraphContext
import PageStore
import TestSupport

/// Generates changes of a graph: saves that succeed, and saves that have to be refused.
struct GraphWorkload {
  /// The kinds of changes of a save.
  enum Shape: Sendable {
    /// A few objects and links.
    case small
    /// A string or data larger than a page, or than a log record holds, among a few other changes.
    case largeValue
    /// More than fits a log record.
    case bulk
  }

  /// A save that must fail, and how.
  struct Refusal: Sendable {
    var edits: [GraphEdit]
    var code: ContextError.Code
  }

  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Objects of each entity have so many codes, so that the codes of deleted objects are used again.
  private static let codes = 0...24

  /// The changes of one save of a store that holds `state`. The order of a save's edits matters: each is possible after those
  /// before it.
  mutating func edits(_ shape: Shape, on state: GraphState) -> [GraphEdit] {
    var state = state
    var edits: [GraphEdit] = []
    func add(_ edit: GraphEdit) {
      edits.append(edit)
      state.apply(edit)
    }
    if state.publishers.isEmpty { add(.putPublisher(0, name: "p")) }
    for _ in 0..<generator.number(in: 2...10) {
      if let edit = edit(on: state) { add(edit) }
    }
    // A run is short, so its first saves fill the library.
    for _ in 0..<(state.library.tracks.count < 8 ? 24 : generator.number(in: 0...8)) {
      if let edit = libraryEdit(on: state) { add(edit) }
    }
    switch shape {
    case .small: break
    case .largeValue: add(largeValue(on: state))
    case .bulk:
      for code in 0..<StoreLimits.logRecordByteCount / Self.bulkValueByteCount * 5 / 4 {
        add(portrait(1_000 + code % 40, byteCount: Self.bulkValueByteCount, on: state))
      }
    }
    if let edit = edit(on: state) { add(edit) }
    return edits
  }

  /// Returns one change that always has an effect.
  mutating func oneEdit(on state: GraphState) -> [GraphEdit] {
    [
      .putPublisher(
        0,
        name: "\(state.publishers[0] ?? "p")'".suffix(20).description + "\(generator.next() % 100)"
      )
    ]
  }

  /// A save that the graph must refuse; nil where it has too few objects.
  mutating func refusal(on state: GraphState) -> Refusal? {
    switch generator.number(in: 0...3) {
    case 0:
      guard let work = pick(state.works) else { return nil }
      return Refusal(edits: [.deletePublisher(work.value.publisher)], code: .deletionDenied)
    case 1:
      guard let taken = pick(state.authors.filter { $0.value.email != nil }),
        let author = pick(state.authors),
        author.key != taken.key
      else { return nil }
      var values = author.value
      values.email = taken.value.email
      return Refusal(edits: [.putAuthor(author.key, values)], code: .notUnique)
    case 2:
      guard let taken = pick(state.works.filter { $0.value.shelf != nil && $0.value.place != nil }),
        let other = pick(state.works), other.key != taken.key
      else { return nil }
      let (shelf, place) = (taken.value.shelf, taken.value.place)
      let edit = GraphEdit.changeWork(other.key, title: "taken", pages: 1, shelf: shelf, place: place)
      return Refusal(edits: [edit], code: .notUnique)
    default:
      guard let publisher = pick(state.publishers), let taken = pick(state.works) else { return nil }
      // Its code is not free.
      let work = GraphState.Work(title: "twin", pages: 2, publisher: publisher.key)
      return Refusal(edits: [.addWork(taken.key, work)], code: .notUnique)
    }
  }

  // MARK: Single edits

  private mutating func edit(on state: GraphState) -> GraphEdit? {
    switch generator.number(in: 0...23) {
    case 0...2: putAuthor(on: state)
    case 3...6: addWork(on: state)
    case 7: .putMember(generator.number(in: Self.codes), name: text())
    case 8: .putPublisher(generator.number(in: 0...5), name: text())
    case 9, 10: changeWork(on: state)
    case 11...13: setAuthorOrPublisher(on: state)
    case 14, 15: setSequel(on: state)
    case 16:
      pick(state.members).map { .setFavourite(of: $0.key, to: pickOrNil(state.works)) }
    case 17...19: admire(on: state)
    default: delete(on: state)
    }
  }

  private mutating func putAuthor(on state: GraphState) -> GraphEdit {
    let code = generator.number(in: Self.codes)
    let known = state.authors[code]
    let taken = Set(state.authors.values.compactMap(\.email))
    let email = "a\(generator.number(in: 0...30))@example.org"
    var author = known ?? .init(name: "", rank: 0)
    author.name = text()
    author.rank = generator.number(in: 0...3)
    author.email = generator.chance(1, in: 4) || taken.contains(email) ? known?.email : email
    if generator.chance(1, in: 3) {
      author.biography = String(repeating: text(), count: generator.number(in: 0...60))
    }
    if generator.chance(1, in: 6) { author.portrait = nil }
    return .putAuthor(code, author)
  }

  private mutating func addWork(on state: GraphState) -> GraphEdit? {
    let code = generator.number(in: Self.codes)
    guard state.works[code] == nil, let publisher = pick(state.publishers) else {
      return changeWork(on: state)
    }
    var work = GraphState.Work(title: text(), pages: generator.number(in: 0...5), publisher: publisher.key)
    work.author = pickOrNil(state.authors)
    (work.shelf, work.place) = freePlace(on: state)
    return .addWork(code, work)
  }

  private mutating func changeWork(on state: GraphState) -> GraphEdit? {
    guard let work = pick(state.works) else { return nil }
    let (shelf, place) = freePlace(on: state)
    return .changeWork(
      work.key,
      title: text(),
      pages: generator.number(in: 0...5),
      shelf: shelf,
      place: place
    )
  }

  private mutating func freePlace(on state: GraphState) -> (String?, Int?) {
    let (shelf, place) = (generator.pick(["a", "b", nil]), generator.pick([1, 2, 3, 4, 5, nil]))
    guard let shelf, let place else { return (shelf, place) }
    let isTaken = state.works.values.contains { $0.shelf == shelf && $0.place == place }
    return isTaken ? (nil, place) : (shelf, place)
  }

  private mutating func setAuthorOrPublisher(on state: GraphState) -> GraphEdit? {
    guard let work = pick(state.works) else { return nil }
    let end = generator.pick(GraphEdit.End.allCases)
    if generator.chance(1, in: 3), let publisher = pick(state.publishers) {
      return .setPublisher(of: work.key, to: publisher.key, end)
    }
    return .setAuthor(of: work.key, to: pickOrNil(state.authors), end)
  }

  private mutating func setSequel(on state: GraphState) -> GraphEdit? {
    guard let work = pick(state.works) else { return nil }
    let sequel = pickOrNil(state.works.filter { $0.key != work.key })
    return .setSequel(of: work.key, to: sequel, generator.pick(GraphEdit.End.allCases))
  }

  private mutating func admire(on state: GraphState) -> GraphEdit? {
    guard let member = pick(state.members), let author = pick(state.authors) else { return nil }
    let end = generator.pick(GraphEdit.End.allCases)
    return member.value.idols.contains(author.key)
      ? .forget(member.key, author: author.key, end) : .admire(member.key, author: author.key, end)
  }

  private mutating func libraryEdit(on state: GraphState) -> GraphEdit? {
    var workload = LibraryWorkload(generator: generator)
    defer { generator = workload.generator }
    return workload.edit(on: state.library).map { .library($0) }
  }

  private mutating func delete(on state: GraphState) -> GraphEdit? {
    switch generator.number(in: 0...4) {
    case 0: pick(state.authors).map { .deleteAuthor($0.key) }
    case 1: pick(state.members).map { .deleteMember($0.key) }
    case 2:
      pick(state.publishers.filter { state.works(from: $0.key).isEmpty }).map { .deletePublisher($0.key) }
    default: pick(state.works).map { .deleteWork($0.key) }
    }
  }

  // MARK: Values

  private static let bulkValueByteCount = 40_000

  private mutating func largeValue(on state: GraphState) -> GraphEdit {
    let limit = StoreLimits.loggedValueByteCount
    let count = generator.pick([
      6_000, limit - 200, limit, limit + 1, generator.number(in: limit...3 * limit),
    ])
    let code = generator.number(in: Self.codes)
    guard generator.chance(1, in: 2) else { return portrait(code, byteCount: count, on: state) }
    var author = state.authors[code] ?? .init(name: text(), rank: 0)
    let words = text() + "é"
    author.biography = String(String(repeating: words, count: count / words.utf8.count + 1))
    return .putAuthor(code, author)
  }

  private mutating func portrait(_ code: Int, byteCount: Int, on state: GraphState) -> GraphEdit {
    var author = state.authors[code] ?? .init(name: text(), rank: 0)
    author.portrait = Data(generator.bytes(byteCount))
    return .putAuthor(code, author)
  }

  private mutating func text() -> String {
    let words = [
      "Ecol", "école", "ÉCOLE", "b", "straße", "日本", "", "z z", String(repeating: "long ", count: 40),
    ]
    return generator.pick(words) + "\(generator.number(in: 0...9))"
  }

  /// In an order that the seed alone decides.
  private mutating func pick<Value>(_ values: [Int: Value]) -> (key: Int, value: Value)? {
    guard let key = generator.element(of: values.keys), let value = values[key] else { return nil }
    return (key, value)
  }

  private mutating func pickOrNil(_ values: [Int: some Any]) -> Int? {
    generator.chance(1, in: 4) ? nil : pick(values)?.key
  }
}
