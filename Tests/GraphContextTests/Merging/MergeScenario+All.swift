import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

extension MergeScenario {
  static let all: [MergeScenario] = [
    .init(
      title: "one attribute in both",
      mine: { try $0.writer("A")?.rank = 6 },
      theirs: { try $0.writer("A")?.rank = 7 },
      outcome: { .init(hasMine: try $0.writer("A")?.rank == 6, hasTheirs: try $0.writer("A")?.rank == 7) }
    ),
    .init(
      title: "one attribute in both, to equal values",
      mine: { try $0.writer("A")?.rank += 1 },
      theirs: { try $0.writer("A")?.rank += 1 },
      outcome: { .init(hasMine: try $0.writer("A")?.rank == 6, hasTheirs: try $0.writer("A")?.rank == 6) }
    ),
    .init(
      title: "two attributes",
      mine: { try $0.writer("A")?.rank = 6 },
      theirs: { try $0.writer("A")?.email = "a@" },
      outcome: { .init(hasMine: try $0.writer("A")?.rank == 6, hasTheirs: try $0.writer("A")?.email == "a@") }
    ),
    .init(
      title: "an attribute here, a relationship there",
      mine: { try $0.book()?.pages = 6 },
      theirs: { try $0.book()?.writer = $0.writer("A") },
      outcome: { .init(hasMine: try $0.book()?.pages == 6, hasTheirs: try $0.book()?.writer?.name == "A") }
    ),
    .init(
      title: "a relationship here, an attribute there",
      mine: { try $0.book()?.writer = $0.writer("A") },
      theirs: { try $0.book()?.pages = 6 },
      outcome: { .init(hasMine: try $0.book()?.writer?.name == "A", hasTheirs: try $0.book()?.pages == 6) }
    ),
    .init(
      title: "attributes here, the object deleted there",
      mine: { try $0.writer("A")?.rank = 6 },
      theirs: { $0.context.delete(try #require(try $0.writer("A"))) },
      outcome: { .init(isDeleted: try $0.writer("A") == nil) }
    ),
    .init(
      title: "the object deleted here, attributes there",
      mine: { $0.context.delete(try #require(try $0.writer("A"))) },
      theirs: { try $0.writer("A")?.rank = 6 },
      outcome: { .init(isDeleted: try $0.writer("A") == nil) }
    ),
    .init(
      title: "the object deleted in both",
      mine: { $0.context.delete(try #require(try $0.writer("A"))) },
      theirs: { $0.context.delete(try #require(try $0.writer("A"))) },
      outcome: { .init(isDeleted: try $0.writer("A") == nil) }
    ),
    .init(
      title: "a to-one relationship in both",
      mine: { try $0.book()?.writer = $0.writer("A") },
      theirs: { try $0.book()?.writer = $0.writer("B") },
      outcome: {
        .init(
          hasMine: try $0.book()?.writer?.name == "A",
          hasTheirs: try $0.book()?.writer?.name == "B"
        )
      }
    ),
    .init(
      title: "a one-to-one relationship: one partner given to two objects",
      mine: { try $0.writer("A")?.desk = $0.desk(1) },
      theirs: { try $0.writer("B")?.desk = $0.desk(1) },
      outcome: {
        .init(
          hasMine: try $0.writer("A")?.desk?.number == 1,
          hasTheirs: try $0.writer("B")?.desk?.number == 1
        )
      }
    ),
    .init(
      title: "a one-to-one relationship: two partners given to one object",
      mine: { try $0.writer("A")?.desk = $0.desk(1) },
      theirs: { try $0.writer("A")?.desk = $0.desk(2) },
      outcome: {
        .init(
          hasMine: try $0.writer("A")?.desk?.number == 1,
          hasTheirs: try $0.writer("A")?.desk?.number == 2
        )
      }
    ),
    .init(
      title: "a many-to-many relationship: two elements added",
      mine: { cast in try cast.reader()?.idols.insert(#require(try cast.writer("A"))) },
      theirs: { cast in try cast.reader()?.idols.insert(#require(try cast.writer("B"))) },
      outcome: {
        let idols = try $0.reader()?.idols.map(\.name) ?? []
        return .init(hasMine: idols.contains("A"), hasTheirs: idols.contains("B"))
      }
    ),
    .init(
      title: "a many-to-many relationship: one element added here, another removed there",
      mine: { cast in try cast.reader()?.idols.insert(#require(try cast.writer("A"))) },
      theirs: { cast in try cast.reader()?.idols.remove(#require(try cast.writer("C"))) },
      outcome: {
        let idols = try $0.reader()?.idols.map(\.name) ?? []
        return .init(hasMine: idols.contains("A"), hasTheirs: !idols.contains("C"))
      }
    ),
    .init(
      title: "a many-to-many relationship: one element removed in both",
      mine: { cast in try cast.reader()?.idols.remove(#require(try cast.writer("C"))) },
      theirs: { cast in try cast.reader()?.idols.remove(#require(try cast.writer("C"))) },
      outcome: {
        let isGone = try $0.reader()?.idols.isEmpty == true
        return .init(hasMine: isGone, hasTheirs: isGone)
      }
    ),
    .init(
      title: "a reference set here to an object deleted there",
      mine: { try $0.reader()?.favourite = $0.book() },
      theirs: { $0.context.delete(try #require(try $0.book())) },
      outcome: { _ in .init() }
    ),
    .init(
      title: "a link added here to an object deleted there",
      mine: { cast in try cast.reader()?.idols.insert(#require(try cast.writer("A"))) },
      theirs: { $0.context.delete(try #require(try $0.writer("A"))) },
      outcome: { _ in .init() }
    ),
    .init(
      title: "the object deleted here, a to-one relationship that denies it set there",
      mine: { $0.context.delete(try #require(try $0.trail())) },
      theirs: { try $0.trail()?.summit = $0.summit() },
      outcome: { .init(isDeleted: try $0.trail() == nil) }
    ),
    .init(
      title: "the object deleted here, a to-one relationship that cascades set there",
      mine: { $0.context.delete(try #require(try $0.trail())) },
      theirs: { try $0.trail()?.hut = $0.hut() },
      outcome: { cast in
        let isThere = try cast.trail() != nil
        return .init(isDeleted: try !isThere && cast.hut() == nil)
      }
    ),
    .init(
      title: "a new object unified with one that was moved there below an object deleted here",
      mine: { cast in
        let book = Book("New", publisher: try #require(try cast.book()?.publisher))
        cast.context.insert(book)
        (book.shelf, book.place) = ("s", 1)
        cast.context.delete(try #require(try cast.writer("A")))
      },
      theirs: { cast in
        let book = try #require(try cast.book())
        (book.shelf, book.place) = ("s", 1)
        book.writer = try cast.writer("A")
      },
      outcome: { _ in .init() }
    ),
    .init(
      title: "the object deleted here, a member added there to a relationship that cascades",
      mine: { $0.context.delete(try #require(try $0.writer("A"))) },
      theirs: { cast in
        let book = Book("New", publisher: try #require(try cast.book()?.publisher))
        cast.context.insert(book)
        book.writer = try cast.writer("A")
      },
      outcome: { .init(isDeleted: try $0.context.count(From<Book>()) == 1) }
    ),
    .init(
      title: "a many-to-many relationship: an element removed here, and deleted there",
      mine: { cast in try cast.reader()?.idols.remove(#require(try cast.writer("C"))) },
      theirs: { $0.context.delete(try #require(try $0.writer("C"))) },
      outcome: { .init(isDeleted: try $0.writer("C") == nil) }
    ),
    .init(
      title: "the object deleted here, its partner in a one-to-one relationship given to another there",
      mine: { $0.context.delete(try #require(try $0.writer("D"))) },
      theirs: { try $0.writer("A")?.desk = $0.desk(3) },
      outcome: {
        .init(hasMine: try $0.writer("D") == nil, hasTheirs: try $0.writer("A")?.desk?.number == 3)
      }
    ),
    .init(
      title: "a unique value taken there",
      mine: { try $0.writer("A")?.email = "x@" },
      theirs: { try $0.writer("B")?.email = "x@" },
      outcome: { _ in .init() }
    ),
  ]
}
