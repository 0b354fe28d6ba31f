import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Random edits in a context, its children and a grandchild end in the store as the same edits in one context do, made when they reach the
/// family's root.
@Suite struct ChildProgramTests {
  /// How many programs are run: `CAMBIUM_CHILD_PROGRAMS`, or a few.
  private static let programCount =
    ProcessInfo.processInfo.environment["CAMBIUM_CHILD_PROGRAMS"].flatMap(Int.init) ?? 60

  @Test func aFamilyDoesWhatOneContextDoes() async throws {
    var generator = SeededGenerator()
    for _ in 0..<Self.programCount / 20 {
      var run = try await FamilyRun(SeededGenerator(seed: generator.next()))
      for _ in 0..<20 { try run.program(of: 40) }
      try await run.finish()
    }
  }
}

/// An object by its kind and name, in whichever store.
private struct Key: Hashable, Comparable, CustomStringConvertible {
  enum Kind: String { case writer, book, desk, reader }
  let kind: Kind
  let number: Int

  var description: String { "\(kind) \(number)" }
  static func < (a: Key, b: Key) -> Bool {
    a.kind == b.kind ? a.number < b.number : a.kind.rawValue < b.kind.rawValue
  }
}

private enum Edit {
  case insert(Key, writer: Key?)
  case setNumber(Key, Int)
  case setWriter(book: Key, writer: Key?)
  case seat(desk: Key, writer: Key?)
  case pair(reader: Key, writer: Key)
  case unpair(reader: Key, writer: Key)
  case favour(reader: Key, book: Key?)
  case delete(Key)

  var keys: [Key] {
    switch self {
    case .insert(let key, let writer): [key] + [writer].compactMap(\.self)
    case .setNumber(let key, _), .delete(let key): [key]
    case .setWriter(let book, let writer): [book] + [writer].compactMap(\.self)
    case .seat(let desk, let writer): [desk] + [writer].compactMap(\.self)
    case .pair(let reader, let writer), .unpair(let reader, let writer): [reader, writer]
    case .favour(let reader, let book): [reader] + [book].compactMap(\.self)
    }
  }
}

/// A context that edits are made in, with the names of the objects that it shows.
private struct Editor {
  let context: ManagedObjectContext

  func object<Object: ManagedObject>(_ type: Object.Type, _ key: Key) throws -> Object {
    let name = "\(key.number)"
    let found: (any ManagedObject)? =
      switch key.kind {
      case .writer: try context.fetchOne(From<Writer>().where { $0.name == name })
      case .book: try context.fetchOne(From<Book>().where { $0.title == name })
      case .desk: try context.fetchOne(From<Desk>().where { $0.number == key.number })
      case .reader: try context.fetchOne(From<Reader>().where { $0.name == name })
      }
    return try #require(found as? Object, "\(key)")
  }

  func apply(_ edit: Edit) throws {
    switch edit {
    case .insert(let key, let writer): try insert(key, writer)
    case .setNumber(let key, let number):
      if key.kind == .writer { try object(Writer.self, key).rank = number }
      if key.kind == .book { try object(Book.self, key).pages = number }
    case .setWriter(let book, let writer):
      try object(Book.self, book).writer = try writer.map { try object(Writer.self, $0) }
    case .seat(let desk, let writer):
      try object(Desk.self, desk).writer = try writer.map { try object(Writer.self, $0) }
    case .pair(let reader, let writer):
      try object(Reader.self, reader).idols.insert(object(Writer.self, writer))
    case .unpair(let reader, let writer):
      try object(Writer.self, writer).fans.removeAll { $0.name == "\(reader.number)" }
    case .favour(let reader, let book):
      try object(Reader.self, reader).favourite = try book.map { try object(Book.self, $0) }
    case .delete(let key):
      switch key.kind {
      case .writer: context.delete(try object(Writer.self, key))
      case .book: context.delete(try object(Book.self, key))
      case .desk: context.delete(try object(Desk.self, key))
      case .reader: context.delete(try object(Reader.self, key))
      }
    }
  }

  private func insert(_ key: Key, _ writer: Key?) throws {
    let name = "\(key.number)"
    switch key.kind {
    case .writer: context.insert(Writer(name))
    case .desk: context.insert(Desk(key.number))
    case .reader: context.insert(Reader(name))
    case .book:
      let book = Book(name, publisher: try #require(try context.fetchOne(From<Publisher>())))
      context.insert(book)
      book.writer = try writer.map { try object(Writer.self, $0) }
    }
  }

  // MARK: What is shown

  func keys(_ kind: Key.Kind) throws -> [Key] {
    let numbers: [Int] =
      switch kind {
      case .writer: try context.fetch(From<Writer>().select(\.name)).compactMap { Int($0) }
      case .book: try context.fetch(From<Book>().select(\.title)).compactMap { Int($0) }
      case .desk: try context.fetch(From<Desk>().select(\.number))
      case .reader: try context.fetch(From<Reader>().select(\.name)).compactMap { Int($0) }
      }
    return numbers.sorted().map { Key(kind: kind, number: $0) }
  }

  /// The objects that a change or deletion of an object changes as well.
  func neighbours(_ key: Key) throws -> [Key] {
    switch key.kind {
    case .writer:
      let writer = try object(Writer.self, key)
      let books = writer.books.map { Key(kind: .book, number: Int($0.title) ?? -1) }
      return try books + books.flatMap { try neighbours($0) }
        + [writer.desk].compactMap(\.self).map { Key(kind: .desk, number: $0.number) }
        + writer.fans.map { Key(kind: .reader, number: Int($0.name) ?? -1) }
    case .book:
      let title = "\(key.number)"
      let readers = try context.fetch(From<Reader>().where { $0.favourite.title == title })
      let writer = try object(Book.self, key).writer
      return readers.map { Key(kind: .reader, number: Int($0.name) ?? -1) }
        + [writer].compactMap(\.self).map { Key(kind: .writer, number: Int($0.name) ?? -1) }
    case .desk:
      let writer = try object(Desk.self, key).writer
      return [writer].compactMap(\.self).map { Key(kind: .writer, number: Int($0.name) ?? -1) }
    case .reader:
      let reader = try object(Reader.self, key)
      return reader.idols.map { Key(kind: .writer, number: Int($0.name) ?? -1) }
        + [reader.favourite].compactMap(\.self).map { Key(kind: .book, number: Int($0.title) ?? -1) }
    }
  }

  /// Everything that the context shows, in words.
  func dump() throws -> [String] {
    var lines: [String] = []
    for writer in try context.fetch(From<Writer>()) {
      let books = writer.books.map(\.title).sorted()
      let fans = writer.fans.map(\.name).sorted()
      let desk = writer.desk.map { "\($0.number)" } ?? "none"
      lines.append("writer \(writer.name) \(writer.rank) \(books) \(writer.books.count) \(fans) \(desk)")
    }
    for book in try context.fetch(From<Book>()) {
      lines.append("book \(book.title) \(book.pages) \(book.writer?.name ?? "none")")
    }
    for desk in try context.fetch(From<Desk>()) {
      lines.append("desk \(desk.number) \(desk.writer?.name ?? "none")")
    }
    for reader in try context.fetch(From<Reader>()) {
      let idols = reader.idols.map(\.name).sorted()
      lines.append("reader \(reader.name) \(idols) \(reader.favourite?.title ?? "none")")
    }
    return lines.sorted()
  }
}

/// A family of contexts on one store, and a context on another store that makes the same edits when they reach the family's root.
private struct FamilyRun {
  private var generator: SeededGenerator
  private let family: PersistentContainer
  private let reference: PersistentContainer
  private let single: Editor
  private let root: ManagedObjectContext
  private var nextNumber = 1

  init(_ generator: SeededGenerator) async throws {
    self.generator = generator
    family = try await Library.open()
    reference = try await Library.open()
    root = try family.context()
    single = Editor(context: try reference.context())
    for context in [root, single.context] {
      context.insert(Publisher("Ace"))
      try context.save()
    }
  }

  /// Edits in new children, until all is saved.
  mutating func program(of stepCount: Int) throws {
    let first = root.makeChild()
    let members = [root, first, root.makeChild(), first.makeChild()]
    var state = FamilyState(editors: members.map { Editor(context: $0) }, parents: [nil, 0, 0, 1])
    for _ in 0..<stepCount { try step(&state) }
    for member in [3, 1, 2, 0] { try save(member, &state) }
    try compare(Editor(context: root), "the root")
    for member in members.dropFirst() { try compare(Editor(context: member), "a child that is saved") }
  }

  mutating func finish() async throws {
    let fresh = try family.context()
    try compare(Editor(context: fresh), "the store")
    #expect(try family.verify().map(\.description) == [])
  }

  private struct FamilyState {
    let editors: [Editor]
    let parents: [Int?]
    /// The edits of each member that its parent doesn't have.
    var logs: [[Edit]]
    /// Members with unsaved changes of an object, the lowest first.
    var locks: [Key: [Int]] = [:]

    init(editors: [Editor], parents: [Int?]) {
      self.editors = editors
      self.parents = parents
      logs = editors.map { _ in [] }
    }

    func isAncestor(_ member: Int, of other: Int) -> Bool {
      var next = parents[other]
      while let parent = next {
        if parent == member { return true }
        next = parents[parent]
      }
      return false
    }

    /// Whether a member may change objects: nobody beside it or below it has unsaved changes of them.
    func mayChange(_ keys: Set<Key>, _ member: Int) -> Bool {
      keys.allSatisfy { key in
        locks[key, default: []].allSatisfy { $0 == member || isAncestor($0, of: member) }
      }
    }
  }

  private struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  private func compare(_ editor: Editor, _ what: String) throws {
    let (found, expected) = (try editor.dump(), try single.dump())
    if found == expected { return }
    let missing = expected.filter { !found.contains($0) }.prefix(3)
    let surplus = found.filter { !expected.contains($0) }.prefix(3)
    throw Difference(description: "\(what) lacks \(Array(missing)) and has \(Array(surplus))")
  }

  private mutating func step(_ state: inout FamilyState) throws {
    let member = generator.number(in: 0...3)
    switch generator.number(in: 0...11) {
    case 0: try save(member, &state)
    case 1: rollBack(member, &state)
    case 2: try checkQueries(state.editors[member])
    default:
      let editor = state.editors[member]
      guard let edit = try edit(editor) else { return }
      var keys = Set(edit.keys)
      for key in edit.keys where try editor.keys(key.kind).contains(key) {
        keys.formUnion(try editor.neighbours(key))
      }
      guard state.mayChange(keys, member) else { return }
      try editor.apply(edit)
      if member == 0 { return try single.apply(edit) }
      state.logs[member].append(edit)
      for key in keys where state.locks[key, default: []].last != member {
        state.locks[key, default: []].append(member)
      }
    }
  }

  private mutating func edit(_ editor: Editor) throws -> Edit? {
    func pick(_ kind: Key.Kind) throws -> Key? { try editor.keys(kind).randomElement(using: &generator) }
    switch generator.number(in: 0...11) {
    case 0...3:
      let kind = generator.pick([Key.Kind.writer, .book, .book, .desk, .reader])
      nextNumber += 1
      return .insert(
        Key(kind: kind, number: nextNumber),
        writer: kind == .book && generator.chance(1, in: 2) ? try pick(.writer) : nil
      )
    case 4: return try pick(.writer).map { .setNumber($0, generator.number(in: 0...9)) }
    case 5: return try pick(.book).map { .setNumber($0, generator.number(in: 0...9)) }
    case 6:
      let writer = generator.chance(1, in: 4) ? nil : try pick(.writer)
      return try pick(.book).map { .setWriter(book: $0, writer: writer) }
    case 7:
      let writer = generator.chance(1, in: 4) ? nil : try pick(.writer)
      return try pick(.desk).map { .seat(desk: $0, writer: writer) }
    case 8, 9:
      guard let reader = try pick(.reader), let writer = try pick(.writer) else { return nil }
      return generator.chance(1, in: 3)
        ? .unpair(reader: reader, writer: writer) : .pair(reader: reader, writer: writer)
    case 10:
      let book = generator.chance(1, in: 4) ? nil : try pick(.book)
      return try pick(.reader).map { .favour(reader: $0, book: book) }
    default: return try pick(generator.pick([.writer, .book, .desk, .reader])).map { .delete($0) }
    }
  }

  private func save(_ member: Int, _ state: inout FamilyState) throws {
    try state.editors[member].context.save()
    guard let parent = state.parents[member] else { return try single.context.save() }
    let edits = state.logs[member]
    state.logs[member] = []
    for (key, members) in state.locks where members.contains(member) {
      var rest = members.filter { $0 != member }
      if parent != 0, !rest.contains(parent) { rest.append(parent) }
      state.locks[key] = rest
    }
    if parent == 0 {
      for edit in edits { try single.apply(edit) }
    } else {
      state.logs[parent] += edits
    }
  }

  /// Only where no descendant has changes on top.
  private func rollBack(_ member: Int, _ state: inout FamilyState) {
    for other in state.editors.indices where state.isAncestor(member, of: other) {
      if state.locks.values.contains(where: { $0.contains(other) }) { return }
    }
    state.editors[member].context.rollback()
    if member == 0 { single.context.rollback() }
    state.logs[member] = []
    for (key, members) in state.locks { state.locks[key] = members.filter { $0 != member } }
  }

  /// What queries find is what their conditions say of all objects; both ends of relationships agree.
  private mutating func checkQueries(_ editor: Editor) throws {
    let context = editor.context
    let number = generator.number(in: 0...9)
    let books = try context.fetch(From<Book>())
    let found = try context.fetch(From<Book>().where { $0.pages > number })
    try #require(found == books.filter { $0.pages > number })
    try #require(try context.count(From<Book>().where { $0.pages > number }) == found.count)
    let ranked = try context.fetch(From<Book>().where { $0.writer.rank == number })
    try #require(ranked == books.filter { $0.writer?.rank == number })
    for writer in try context.fetch(From<Writer>()) {
      try #require(Set(writer.books) == Set(books.filter { $0.writer === writer }))
      try #require(writer.desk == nil || writer.desk?.writer === writer)
      try #require(writer.fans.allSatisfy { $0.idols.contains(writer) })
    }
    let busy = try context.fetch(From<Writer>().where(format: "books.@count > 1"))
    try #require(busy.allSatisfy { $0.books.count > 1 })
    let sum = try context.sum(\.pages, From<Book>())
    try #require(sum == books.reduce(0) { $0 + $1.pages })
  }
}
