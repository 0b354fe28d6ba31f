import Foundation
import GraphContext
import Predicates
import TestSupport

/// A difference between a graph and its oracle.
struct GraphDifference: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// Compares the contents of a context with an oracle: objects and values, both ends of each relationship, and the
/// results of queries that use indexes.
struct GraphComparison {
  let context: ManagedObjectContext
  let state: GraphState

  /// Throws the first difference.
  func run() throws {
    try comparePublishers()
    try compareAuthors()
    try compareWorks()
    try compareMembers()
    try compareIndexes()
    try LibraryComparison(context: context, state: state.library).run()
  }

  private func comparePublishers() throws {
    for publisher in try all(Publisher.self, state.publishers, \.code) {
      let code = publisher.code
      try expect("Publisher \(code)", publisher.name, state.publishers[code])
      try expect("works of Publisher \(code)", codes(publisher.works, \.code), state.works(from: code))
    }
  }

  private func compareAuthors() throws {
    for author in try all(Author.self, state.authors, \.code) {
      let code = author.code
      let values = GraphState.Author(
        name: author.name,
        rank: author.rank,
        email: author.email,
        biography: author.biography,
        portrait: author.portrait
      )
      try expect("Author \(code)", values, state.authors[code])
      let works = state.works(of: code)
      try expect("works of Author \(code)", codes(author.works, \.code), works)
      try expect("number of works of Author \(code)", author.works.count, works.count)
      try expect("admirers of Author \(code)", codes(author.admirers, \.code), state.admirers(of: code))
    }
  }

  private func compareWorks() throws {
    for work in try all(Work.self, state.works, \.code) {
      let code = work.code
      let values = GraphState.Work(
        title: work.title,
        pages: work.pages,
        shelf: work.shelf,
        place: work.place,
        author: work.author?.code,
        publisher: work.publisher.code,
        sequel: work.sequel?.code
      )
      try expect("Work \(code)", values, state.works[code])
      try expect("prequel of Work \(code)", work.prequel?.code, state.prequel(of: code))
    }
  }

  private func compareMembers() throws {
    for member in try all(Member.self, state.members, \.code) {
      let code = member.code
      let idols = Set(member.idols.map(\.code))
      let values = GraphState.Member(name: member.name, favourite: member.favourite?.code, idols: idols)
      try expect("Member \(code)", values, state.members[code])
    }
  }

  /// Every object of a model. Throws when their codes are not those that the oracle has.
  private func all<Object: ManagedObject>(
    _ type: Object.Type,
    _ expected: [Int: some Any],
    _ code: KeyPath<Object, Int>
  ) throws -> [Object] {
    let objects = try context.fetch(From<Object>())
    try expect("codes of \(type)", codes(objects, code), expected.keys.sorted())
    return objects
  }

  private func codes<Object: ManagedObject>(
    _ objects: some Sequence<Object>,
    _ code: KeyPath<Object, Int>
  ) -> [Int] {
    objects.map { $0[keyPath: code] }.sorted()
  }

  private func expect<Value: Equatable>(_ subject: String, _ shown: Value, _ expected: Value?) throws {
    guard shown != expected else { return }
    let (shown, wanted) = (text(shown), expected.map { text($0) } ?? "nothing")
    throw GraphDifference("\(subject): \(shown) instead of \(wanted)")
  }

  private func text(_ value: some Any) -> String { String("\(value)".prefix(300)) }
}

// MARK: - Through indexes

extension GraphComparison {
  private func compareIndexes() throws {
    for (code, publisher) in state.publishers {
      try expect(
        "by code",
        try context.fetch(From<Publisher>().where(\.code == code)).map(\.name),
        [publisher]
      )
    }
    for (code, member) in state.members {
      try expect(
        "by code",
        try context.fetch(From<Member>().where(\.code == code)).map(\.name),
        [member.name]
      )
    }
    for (code, author) in state.authors { try compareIndexes(code, author) }
    for (code, work) in state.works { try compareIndexes(code, work) }
    let sorted = try context.fetch(From<Work>().orderBy(\.pages, \.title))
    let expected = state.works.values.map { ($0.pages, Array($0.title.utf8)) }.sorted {
      $0.0 == $1.0 ? $0.1.lexicographicallyPrecedes($1.1) : $0.0 < $1.0
    }
    try expect("pages in order", sorted.map(\.pages), expected.map(\.0))
    try expect("titles in order", sorted.map { Array($0.title.utf8) }, expected.map(\.1))
    for absent in [-1, 10_000] where try context.count(From<Author>().where(\.code == absent)) > 0 {
      throw GraphDifference("an author that was never there is found by its code")
    }
  }

  private func compareIndexes(_ code: Int, _ author: GraphState.Author) throws {
    try expect("by code", try context.fetch(From<Author>().where(\.code == code)).map(\.name), [author.name])
    if let email = author.email {
      try expect("by email", try context.fetch(From<Author>().where(\.email == email)).map(\.code), [code])
    }
    let (rank, name) = (author.rank, author.name)
    let alike = state.authors.values.count { $0.rank == rank && $0.name.utf8.elementsEqual(name.utf8) }
    try expect(
      "by rank and name",
      try context.count(From<Author>().where(\.rank == rank && \.name == name)),
      alike
    )
    let found = try context.fetch(
      From<Author>().where { $0.name.equals(name, [.caseInsensitive, .diacriticInsensitive]) }
    )
    guard found.contains(where: { $0.code == code }) else {
      throw GraphDifference("Author \(code) isn't found by its folded name")
    }
  }

  private func compareIndexes(_ code: Int, _ work: GraphState.Work) throws {
    try expect("by code", try context.fetch(From<Work>().where(\.code == code)).map(\.title), [work.title])
    if let shelf = work.shelf, let place = work.place {
      let there = try context.fetch(From<Work>().where(\.shelf == shelf && \.place == place))
      try expect("by shelf and place", there.map(\.code), [code])
    }
    if let author = work.author {
      let count = try context.count(From<Work>().where(\.author?.code == author))
      try expect("by author", count, state.works(of: author).count)
    }
  }
}
