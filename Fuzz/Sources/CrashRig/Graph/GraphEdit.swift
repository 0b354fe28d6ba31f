import Foundation
import GraphContext
import Predicates

/// A change of a graph, in terms of codes: a context and a ``GraphState`` can both make it.
enum GraphEdit: Sendable {
  /// The end from which a link is changed.
  enum End: CaseIterable, Sendable { case near, far }

  /// Adds or renames one.
  case putPublisher(Int, name: String)
  /// Adds or changes one.
  case putAuthor(Int, GraphState.Author)
  /// Adds or renames one.
  case putMember(Int, name: String)
  /// Adds one, with the links that the state has.
  case addWork(Int, GraphState.Work)
  case changeWork(Int, title: String, pages: Int, shelf: String?, place: Int?)
  case setAuthor(of: Int, to: Int?, End)
  case setPublisher(of: Int, to: Int, End)
  case setSequel(of: Int, to: Int?, End)
  case setFavourite(of: Int, to: Int?)
  case admire(Int, author: Int, End)
  case forget(Int, author: Int, End)
  case deletePublisher(Int)
  case deleteAuthor(Int)
  case deleteWork(Int)
  case deleteMember(Int)
  case library(LibraryEdit)
}

/// Makes edits in a context, whose objects it finds by their codes.
struct GraphEditor {
  let context: ManagedObjectContext

  func apply(_ edits: [GraphEdit]) throws {
    for edit in edits { try apply(edit) }
  }

  private func apply(_ edit: GraphEdit) throws {
    switch edit {
    case .putPublisher(let code, let name):
      if let known = try publisherIfThere(code) {
        known.name = name
      } else {
        context.insert(Publisher(code: code, name: name))
      }
    case .putAuthor(let code, let values): try putAuthor(code, values)
    case .putMember(let code, let name):
      if let known = try memberIfThere(code) {
        known.name = name
      } else {
        context.insert(Member(code: code, name: name))
      }
    case .addWork(let code, let values): try addWork(code, values)
    case .changeWork(let code, let title, let pages, let shelf, let place):
      let work = try work(code)
      (work.title, work.pages, work.shelf, work.place) = (title, pages, shelf, place)
    case .setFavourite(let code, let favourite): try member(code).favourite = try favourite.map(work)
    case .deletePublisher(let code): context.delete(try publisher(code))
    case .deleteAuthor(let code): context.delete(try author(code))
    case .deleteWork(let code): context.delete(try work(code))
    case .deleteMember(let code): context.delete(try member(code))
    case .library(let edit): try LibraryEditor(context: context).apply(edit)
    default: try link(edit)
    }
  }

  private func link(_ edit: GraphEdit) throws {
    switch edit {
    case .setAuthor(let code, let target, .near): try work(code).author = try target.map(author)
    case .setAuthor(let code, let target, .far):
      let work = try work(code)
      if let target {
        try author(target).works.append(work)
      } else {
        work.author?.works.remove(work)
      }
    case .setPublisher(let code, let target, .near): try work(code).publisher = try publisher(target)
    case .setPublisher(let code, let target, .far): try publisher(target).works.append(try work(code))
    case .setSequel(let code, let target, .near): try work(code).sequel = try target.map(work)
    case .setSequel(let code, let target, .far):
      let work = try work(code)
      if let target {
        try self.work(target).prequel = work
      } else {
        work.sequel?.prequel = nil
      }
    case .admire(let code, let target, .near): try member(code).idols.insert(try author(target))
    case .admire(let code, let target, .far): try author(target).admirers.append(try member(code))
    case .forget(let code, let target, .near): try member(code).idols.remove(try author(target))
    case .forget(let code, let target, .far):
      let member = try member(code)
      try author(target).admirers.removeAll { $0 === member }
    default: break
    }
  }

  private func putAuthor(_ code: Int, _ values: GraphState.Author) throws {
    let known = try authorIfThere(code)
    let author = known ?? Author(code: code, name: values.name, rank: values.rank)
    if known == nil { context.insert(author) }
    (author.name, author.rank, author.email) = (values.name, values.rank, values.email)
    if author.biography != values.biography { author.biography = values.biography }
    if author.portrait != values.portrait { author.portrait = values.portrait }
  }

  private func addWork(_ code: Int, _ values: GraphState.Work) throws {
    let work = Work(
      code: code,
      title: values.title,
      pages: values.pages,
      publisher: try publisher(values.publisher)
    )
    (work.shelf, work.place) = (values.shelf, values.place)
    work.author = try values.author.map(author)
    context.insert(work)
  }

  // MARK: Objects by code

  private func publisherIfThere(_ code: Int) throws -> Publisher? {
    try context.fetchOne(From<Publisher>().where(\.code == code))
  }
  private func authorIfThere(_ code: Int) throws -> Author? {
    try context.fetchOne(From<Author>().where(\.code == code))
  }
  private func memberIfThere(_ code: Int) throws -> Member? {
    try context.fetchOne(From<Member>().where(\.code == code))
  }

  private func publisher(_ code: Int) throws -> Publisher { try found(publisherIfThere(code), code) }
  private func author(_ code: Int) throws -> Author { try found(authorIfThere(code), code) }
  private func member(_ code: Int) throws -> Member { try found(memberIfThere(code), code) }
  private func work(_ code: Int) throws -> Work {
    try found(context.fetchOne(From<Work>().where(\.code == code)), code)
  }

  private func found<Object: ManagedObject>(_ object: Object?, _ code: Int) throws -> Object {
    guard let object else { throw GraphDifference("\(Object.entityName) \(code) isn't found by its code") }
    return object
  }
}
