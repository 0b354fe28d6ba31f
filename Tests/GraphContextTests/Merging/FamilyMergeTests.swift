import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Two contexts and a child of one change a library at random, beside plain values. After each step, each context
/// agrees with its plain values, and after each save, the store does as well.
struct FamilyMergeTests {
  /// The number of steps: some hundreds for each policy at least.
  private static let stepCount = TestEffort.times(1_500, long: 100_000)

  @Test func contextsAndTheStoreShowWhatPlainValuesDo() async throws {
    var generator = SeededGenerator()
    let policies: [MergePolicy] = [
      .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .keepMine,
      .keepTheirs,
    ]
    let roundLength = 420
    var refusals: Set<String> = []
    var done = 0
    while done < Self.stepCount {
      var run = try await FamilyMergeRun(SeededGenerator(seed: generator.next()))
      for policy in policies {
        run.use(policy)
        for _ in 0..<roundLength / policies.count { try run.step() }
      }
      try run.finish()
      refusals.formUnion(run.refusals)
      done += roundLength
    }
    // The generator determines how often and why saves are refused. Of many saves, some are refused for each reason.
    let reasons = ["conflict", "notUnique", "missingDestination"]
    #expect(Self.stepCount < 30_000 ? !refusals.isEmpty : refusals.isSuperset(of: reasons))
  }
}

/// One library, its contexts, and the values that they should show.
private struct FamilyMergeRun {
  private struct Member {
    let context: ManagedObjectContext
    var base = MergeGraph()
    var baseCommit = 0
    var current = MergeGraph()
  }
  private struct Difference: Error, CustomStringConvertible { let description: String }

  private let seed: UInt64
  private var generator: SeededGenerator
  private let library: PersistentContainer
  private let publisher: ManagedObjectID
  private var ledger = MergeLedger()
  private var members: [Member]
  private let child: ManagedObjectContext
  /// What the child has done since it was last clean.
  private var childEdits: [MergeEdit] = []
  private var policy = MergePolicy.error
  private var history: [String] = []
  private var saveCount = 0
  private(set) var refusals: Set<String> = []

  init(_ generator: SeededGenerator) async throws {
    seed = generator.seed
    self.generator = generator
    let library = try await Library.open()
    self.library = library
    publisher = try await library.write { context in
      let publisher = Publisher("Ace")
      context.insert(publisher)
      return publisher.objectID
    }
    members = [Member(context: try library.context()), Member(context: try library.context())]
    child = members[0].context.makeChild()
  }

  mutating func use(_ policy: MergePolicy) {
    self.policy = policy
    for member in members { member.context.mergePolicy = policy }
    history.append("policy \(policy)")
  }

  mutating func finish() throws {
    try check(child, childGraph, "the child")
    for which in 0..<2 { try rollback(which) }
    if try library.verify() != [] { throw difference("the store is not whole") }
    child.end()
    for member in members { member.context.end() }
  }

  // MARK: Steps

  /// What the child shows.
  private var childGraph: MergeGraph {
    var graph = members[0].current
    for edit in childEdits { edit.apply(to: &graph) }
    return graph
  }

  /// One random step of one of the contexts, after which it is compared with its plain values.
  mutating func step() throws {
    switch generator.number(in: 0...19) {
    case 0...6: try change(1)
    case 7...11: try change(0)
    case 12...15: try changeChild()
    case 16: try saveChild()
    case 17: try save(0)
    case 18: try save(1)
    default: try rare()
    }
  }

  private mutating func rare() throws {
    switch generator.number(in: 0...3) {
    case 0: try rollback(1)
    case 1: discardChild()
    case 2:
      discardChild()
      try rollback(0)
    default: try seat(generator.number(in: 0...1))
    }
  }

  private mutating func change(_ which: Int) throws {
    let isLimited = which == 0 && !childEdits.isEmpty
    let edit = isLimited ? quietEdit(members[0].current) : edit(members[which].current)
    guard let edit, let edit = try apply(edit, in: members[which].context) else { return }
    history.append("\(which): \(edit)")
    edit.apply(to: &members[which].current)
    try check(members[which].context, members[which].current, "context \(which)")
    if which == 0 { try check(child, childGraph, "the child") }
  }

  private mutating func changeChild() throws {
    guard let edit = edit(childGraph), let edit = try apply(edit, in: child) else { return }
    history.append("child: \(edit)")
    childEdits.append(edit)
    try check(child, childGraph, "the child")
  }

  private mutating func saveChild() throws {
    history.append("child saves")
    let graph = childGraph
    try child.save()
    members[0].current = graph
    childEdits = []
    try check(members[0].context, graph, "the parent")
    try check(child, graph, "the child")
  }

  private mutating func discardChild() {
    history.append("child rolls back")
    child.rollback()
    childEdits = []
  }

  private mutating func save(_ which: Int) throws {
    if which == 0 { try saveChild() }
    let member = members[which]
    let outcome = ledger.saving(member.current, since: member.base, at: member.baseCommit, by: policy)
    history.append("\(which) saves, expecting \(outcome.objections)")
    do throws(ContextError) {
      try member.context.save()
      if !outcome.objections.isEmpty { throw ContextError(.corrupt, "the save passed") }
    } catch {
      let isExpected =
        outcome.objections.contains(error.code.description)
        || outcome.objections.contains("conflict") && error.code != .corrupt
      guard isExpected else {
        throw difference("context \(which), expecting \(outcome.objections): \(error)")
      }
      refusals.insert(error.code.description)
      return try rollback(which)
    }
    if outcome.graph != ledger.graph { ledger.accept(outcome.graph) }
    // A save without changes doesn't move a context to the newest commit.
    if member.current == member.base { try member.context.refresh() }
    moveOn(which)
    try check(member.context, ledger.graph, "context \(which) after its save")
    saveCount += 1
    let fresh = try library.context()
    defer { fresh.end() }
    try check(fresh, ledger.graph, "the store")
    if saveCount % 16 == 0, try library.verify() != [] { throw difference("the store is not whole") }
  }

  private mutating func rollback(_ which: Int) throws {
    if which == 0 { discardChild() }
    history.append("\(which) rolls back")
    members[which].context.rollback()
    try check(members[which].context, members[which].base, "context \(which) after a rollback")
    try members[which].context.refresh()
    moveOn(which)
    try check(members[which].context, ledger.graph, "context \(which) at the newest commit")
    if which == 0 { try check(child, ledger.graph, "the child") }
  }

  private mutating func moveOn(_ which: Int) {
    members[which].base = ledger.graph
    members[which].baseCommit = ledger.commit
    members[which].current = ledger.graph
  }

  /// Gives a writer a desk, in a context that has just saved, and saves.
  private mutating func seat(_ which: Int) throws {
    try save(which)
    let graph = members[which].current
    guard members[which].base == graph, let writer = generator.pickAny(graph.keys(.writer)),
      let desk = generator.pickAny(graph.keys(.desk))
    else { return }
    history.append("\(which): seats \(writer.number) at \(desk.number)")
    let context = members[which].context
    if generator.chance(1, in: 2) {
      try object(Writer.self, writer.number, context).desk = object(Desk.self, desk.number, context)
    } else {
      try object(Desk.self, desk.number, context).writer = object(Writer.self, writer.number, context)
    }
    members[which].current.seat(writer.number, at: desk.number)
    try check(context, members[which].current, "context \(which)")
    try save(which)
  }

  // MARK: Edits

  private mutating func edit(_ graph: MergeGraph) -> MergeEdit? {
    switch generator.number(in: 0...11) {
    case 0...2: return insertion(graph)
    case 3...5: return valueEdit(graph, avoiding: [])
    case 6:
      guard let book = generator.pickAny(graph.keys(.book)) else { return nil }
      let writer = generator.chance(1, in: 5) ? nil : generator.pickAny(graph.keys(.writer))?.number
      return .set(book, slot: 2, writer)
    case 7...9:
      guard let reader = generator.pickAny(graph.keys(.reader)),
        let writer = generator.pickAny(graph.keys(.writer))
      else { return nil }
      let pair = MergeGraph.Pair(reader: reader.number, writer: writer.number)
      return graph.pairs.contains(pair) ? .unlink(pair) : .link(pair)
    default:
      let kind = generator.pick([MergeGraph.Kind.writer, .book, .book, .reader])
      return generator.pickAny(graph.keys(kind)).map { .delete($0) }
    }
  }

  /// An edit that a parent makes while its child has changes: of an object that the child hasn't changed.
  private mutating func quietEdit(_ graph: MergeGraph) -> MergeEdit? {
    if generator.chance(1, in: 3) { return .insert(.init(kind: .reader, number: 0), [1]) }
    let edited = childEdits.compactMap { edit -> MergeGraph.Key? in
      if case .set(let key, _, _) = edit { key } else { nil }
    }
    return valueEdit(graph, avoiding: Set(edited))
  }

  private mutating func valueEdit(_ graph: MergeGraph, avoiding edited: Set<MergeGraph.Key>) -> MergeEdit? {
    let kind = generator.pick([MergeGraph.Kind.writer, .writer, .book, .reader])
    guard let key = generator.pickAny(graph.keys(kind).filter { !edited.contains($0) }) else { return nil }
    switch kind {
    case .writer where generator.chance(1, in: 3):
      return .set(key, slot: 2, generator.chance(1, in: 4) ? nil : generator.number(in: 1...8))
    case .writer, .book: return .set(key, slot: generator.number(in: 0...1), generator.number(in: 1...5))
    case .reader, .desk: return .set(key, slot: 0, generator.number(in: 1...5))
    }
  }

  private mutating func insertion(_ graph: MergeGraph) -> MergeEdit? {
    let limits: [(MergeGraph.Kind, Int)] = [(.writer, 7), (.book, 9), (.book, 9), (.reader, 5), (.desk, 3)]
    let (kind, limit) = generator.pick(limits)
    if graph.keys(kind).count >= limit { return nil }
    let values: [Int?] =
      switch kind {
      case .writer: [1, 1, nil, nil]
      case .book: [1, 1, generator.chance(1, in: 3) ? nil : generator.pickAny(graph.keys(.writer))?.number]
      case .reader: [1]
      case .desk: [1, nil]
      }
    return .insert(.init(kind: kind, number: 0), values)
  }

  // MARK: Objects

  private func object<Object: ManagedObject>(
    _ type: Object.Type,
    _ number: Int,
    _ context: ManagedObjectContext
  ) throws -> Object {
    let id = ManagedObjectID(
      entityName: type.entityName,
      number: ObjectNumber(rawValue: UInt64(number)),
      storeID: library.storeID
    )
    return try context.existingObject(type, with: id)
  }

  /// Makes an edit in a context; returns it with the number of the object that it inserts.
  private mutating func apply(_ edit: MergeEdit, in context: ManagedObjectContext) throws -> MergeEdit? {
    switch edit {
    case .insert(let key, let values):
      return .insert(.init(kind: key.kind, number: try insert(key.kind, values, context)), values)
    case .set(let key, let slot, let value): try set(key, slot, value, context)
    case .link(let pair): try link(pair, context, isAdded: true)
    case .unlink(let pair): try link(pair, context, isAdded: false)
    case .delete(let key):
      switch key.kind {
      case .writer: context.delete(try object(Writer.self, key.number, context))
      case .book: context.delete(try object(Book.self, key.number, context))
      case .reader: context.delete(try object(Reader.self, key.number, context))
      case .desk: context.delete(try object(Desk.self, key.number, context))
      }
    }
    return edit
  }

  private func insert(
    _ kind: MergeGraph.Kind,
    _ values: [Int?],
    _ context: ManagedObjectContext
  ) throws -> Int {
    let object: any ManagedObject
    switch kind {
    case .writer: object = Writer("1", rank: 1)
    case .book:
      let book = Book("1", pages: 1, publisher: try context.existingObject(Publisher.self, with: publisher))
      if let writer = values[2] { book.writer = try self.object(Writer.self, writer, context) }
      object = book
    case .reader: object = Reader("1")
    case .desk: object = Desk(1)
    }
    context.insert(object)
    return Int(object.objectID.number.rawValue)
  }

  private mutating func set(
    _ key: MergeGraph.Key,
    _ slot: Int,
    _ value: Int?,
    _ context: ManagedObjectContext
  ) throws {
    switch (key.kind, slot) {
    case (.writer, 0): try object(Writer.self, key.number, context).name = "\(value ?? 0)"
    case (.writer, 1): try object(Writer.self, key.number, context).rank = value ?? 0
    case (.writer, _): try object(Writer.self, key.number, context).email = value.map { "\($0)" }
    case (.book, 0): try object(Book.self, key.number, context).title = "\(value ?? 0)"
    case (.book, 1): try object(Book.self, key.number, context).pages = value ?? 0
    case (.book, _): try move(try object(Book.self, key.number, context), value, context)
    case (.reader, _): try object(Reader.self, key.number, context).name = "\(value ?? 0)"
    case (.desk, _): try object(Desk.self, key.number, context).number = value ?? 0
    }
  }

  /// By either end.
  private mutating func move(_ book: Book, _ writer: Int?, _ context: ManagedObjectContext) throws {
    let target = try writer.map { try object(Writer.self, $0, context) }
    if let target, generator.chance(1, in: 2) { target.books.append(book) } else { book.writer = target }
  }

  /// By either end.
  private mutating func link(_ pair: MergeGraph.Pair, _ context: ManagedObjectContext, isAdded: Bool) throws {
    let reader = try object(Reader.self, pair.reader, context)
    let writer = try object(Writer.self, pair.writer, context)
    switch (isAdded, generator.chance(1, in: 2)) {
    case (true, true): reader.idols.insert(writer)
    case (true, false): writer.fans.append(reader)
    case (false, true): reader.idols.remove(writer)
    case (false, false): writer.fans.removeAll { $0 === reader }
    }
  }

  // MARK: Comparison

  private func difference(_ text: String) -> Difference {
    Difference(description: "seed \(seed): \(text)\n" + history.suffix(60).joined(separator: "\n"))
  }

  private func check(_ context: ManagedObjectContext, _ expected: MergeGraph, _ what: String) throws {
    let found = try graph(context)
    if found == expected { return }
    let missing = expected.rows.filter { found.rows[$0.key] != $0.value }
    let surplus = found.rows.filter { expected.rows[$0.key] != $0.value }
    let pairs = (expected.pairs.subtracting(found.pairs), found.pairs.subtracting(expected.pairs))
    throw difference("\(what) lacks \(missing) and has \(surplus); pairs \(pairs)")
  }

  /// What a context shows; both ends of each relationship are read.
  private func graph(_ context: ManagedObjectContext) throws -> MergeGraph {
    var graph = MergeGraph()
    func number(_ object: (any ManagedObject)?) -> Int? { object.map { Int($0.objectID.number.rawValue) } }
    func key(_ kind: MergeGraph.Kind, _ object: any ManagedObject) -> MergeGraph.Key {
      .init(kind: kind, number: Int(object.objectID.number.rawValue))
    }
    var (shelved, liked): ([Int: Set<Int>], Set<MergeGraph.Pair>) = ([:], [])
    for writer in try context.fetch(From<Writer>()) {
      let key = key(.writer, writer)
      graph.rows[key] = [
        Int(writer.name), writer.rank, writer.email.flatMap { Int($0) }, number(writer.desk),
      ]
      for book in writer.books { shelved[key.number, default: []].insert(number(book) ?? 0) }
      if writer.books.count != shelved[key.number, default: []].count { throw difference("a count is wrong") }
      for fan in writer.fans { liked.insert(.init(reader: number(fan) ?? 0, writer: key.number)) }
    }
    var referring: [Int: Set<Int>] = [:]
    for book in try context.fetch(From<Book>()) {
      let key = key(.book, book)
      graph.rows[key] = [Int(book.title), book.pages, number(book.writer)]
      if let writer = book.writer { referring[number(writer) ?? 0, default: []].insert(key.number) }
    }
    for reader in try context.fetch(From<Reader>()) {
      graph.rows[key(.reader, reader)] = [Int(reader.name)]
      for idol in reader.idols {
        graph.pairs.insert(.init(reader: number(reader) ?? 0, writer: number(idol) ?? 0))
      }
    }
    for desk in try context.fetch(From<Desk>()) {
      graph.rows[key(.desk, desk)] = [desk.number, number(desk.writer)]
    }
    try context.checkUsable()
    if shelved != referring || liked != graph.pairs { throw difference("the ends of a relationship differ") }
    return graph
  }
}

extension SeededGenerator {
  /// An element of an array; nil for an empty one.
  fileprivate mutating func pickAny<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : pick(elements)
  }
}
