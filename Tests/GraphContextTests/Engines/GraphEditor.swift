import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// An object by its kind and name, in whichever store.
struct GraphKey: Hashable, Comparable, CustomStringConvertible {
  enum Kind: String { case writer, book, desk, reader }
  let kind: Kind
  let number: Int

  var description: String { "\(kind) \(number)" }
  static func < (a: GraphKey, b: GraphKey) -> Bool {
    a.kind == b.kind ? a.number < b.number : a.kind.rawValue < b.kind.rawValue
  }
}

enum GraphEdit {
  case insert(GraphKey, writer: GraphKey?)
  case setNumber(GraphKey, Int)
  case setEmail(GraphKey, Int?)
  case setWriter(book: GraphKey, writer: GraphKey?)
  case seat(desk: GraphKey, writer: GraphKey?)
  case pair(reader: GraphKey, writer: GraphKey)
  case unpair(reader: GraphKey, writer: GraphKey)
  case favour(reader: GraphKey, book: GraphKey?)
  case delete(GraphKey)

  var keys: [GraphKey] {
    switch self {
    case .insert(let key, let writer): [key] + [writer].compactMap(\.self)
    case .setNumber(let key, _), .setEmail(let key, _), .delete(let key): [key]
    case .setWriter(let book, let writer): [book] + [writer].compactMap(\.self)
    case .seat(let desk, let writer): [desk] + [writer].compactMap(\.self)
    case .pair(let reader, let writer), .unpair(let reader, let writer): [reader, writer]
    case .favour(let reader, let book): [reader] + [book].compactMap(\.self)
    }
  }
}

/// A context that edits are made in, with the names of the objects that it shows.
struct GraphEditor {
  let context: ManagedObjectContext

  func object<Object: ManagedObject>(_ type: Object.Type, _ key: GraphKey) throws -> Object {
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

  func apply(_ edit: GraphEdit) throws {
    switch edit {
    case .insert(let key, let writer): try insert(key, writer)
    case .setNumber(let key, let number):
      if key.kind == .writer { try object(Writer.self, key).rank = number }
      if key.kind == .book { try object(Book.self, key).pages = number }
    case .setEmail(let key, let email): try object(Writer.self, key).email = email.map { "\($0)@" }
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

  private func insert(_ key: GraphKey, _ writer: GraphKey?) throws {
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

  func keys(_ kind: GraphKey.Kind) throws -> [GraphKey] {
    let numbers: [Int] =
      switch kind {
      case .writer: try context.fetch(From<Writer>().select(\.name)).compactMap { Int($0) }
      case .book: try context.fetch(From<Book>().select(\.title)).compactMap { Int($0) }
      case .desk: try context.fetch(From<Desk>().select(\.number))
      case .reader: try context.fetch(From<Reader>().select(\.name)).compactMap { Int($0) }
      }
    return numbers.sorted().map { GraphKey(kind: kind, number: $0) }
  }

  /// The objects that a change or deletion of an object changes as well.
  func neighbours(_ key: GraphKey) throws -> [GraphKey] {
    switch key.kind {
    case .writer:
      let writer = try object(Writer.self, key)
      let books = writer.books.map { GraphKey(kind: .book, number: Int($0.title) ?? -1) }
      return try books + books.flatMap { try neighbours($0) }
        + [writer.desk].compactMap(\.self).map { GraphKey(kind: .desk, number: $0.number) }
        + writer.fans.map { GraphKey(kind: .reader, number: Int($0.name) ?? -1) }
    case .book:
      let title = "\(key.number)"
      let readers = try context.fetch(From<Reader>().where { $0.favourite.title == title })
      let writer = try object(Book.self, key).writer
      return readers.map { GraphKey(kind: .reader, number: Int($0.name) ?? -1) }
        + [writer].compactMap(\.self).map { GraphKey(kind: .writer, number: Int($0.name) ?? -1) }
    case .desk:
      let writer = try object(Desk.self, key).writer
      return [writer].compactMap(\.self).map { GraphKey(kind: .writer, number: Int($0.name) ?? -1) }
    case .reader:
      let reader = try object(Reader.self, key)
      return reader.idols.map { GraphKey(kind: .writer, number: Int($0.name) ?? -1) }
        + [reader.favourite].compactMap(\.self).map { GraphKey(kind: .book, number: Int($0.title) ?? -1) }
    }
  }

  /// Everything that the context shows, in words.
  func dump() throws -> [String] {
    var lines: [String] = []
    for writer in try context.fetch(From<Writer>()) {
      let books = writer.books.map(\.title).sorted()
      let fans = writer.fans.map(\.name).sorted()
      let desk = writer.desk.map { "\($0.number)" } ?? "none"
      lines.append(
        "writer \(writer.name) \(writer.rank) \(writer.email ?? "none") \(books) \(writer.books.count) \(fans) \(desk)"
      )
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

  // MARK: Random edits

  /// An edit that the context can make; nil where the objects for it are missing.
  ///
  /// - Parameter nextNumber: the name of the newest object, which is raised.
  func randomEdit(_ generator: inout SeededGenerator, named nextNumber: inout Int) throws -> GraphEdit? {
    func pick(_ kind: GraphKey.Kind) throws -> GraphKey? { try keys(kind).randomElement(using: &generator) }
    switch generator.number(in: 0...12) {
    case 0...3:
      let kind = generator.pick([GraphKey.Kind.writer, .book, .book, .desk, .reader])
      nextNumber += 1
      return .insert(
        GraphKey(kind: kind, number: nextNumber),
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
    case 11:
      let email = generator.chance(1, in: 3) ? nil : generator.number(in: 0...40)
      return try pick(.writer).map { .setEmail($0, email) }
    default: return try pick(generator.pick([.writer, .book, .desk, .reader])).map { .delete($0) }
    }
  }
}
