import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Batches with a commit for each chunk.
struct ChunkTests {
  private let library: PersistentContainer

  init() async throws { library = try await Library.open() }

  private func insertWriters(_ count: Int) async throws -> [ManagedObjectID] {
    try await library.batchInsert(
      Writer.self,
      from: 0..<count,
      .set(\.name) { "w\($0)" },
      .set(\.email) { "e\($0)" },
      .set(\.rank) { $0 }
    )
  }

  @Test func chunksAreCommitsOfTheirOwn() async throws {
    let ids = try await insertWriters(10)
    var before = library.store.lastCommit
    let changed = try await library.batchUpdate(
      From<Writer>().where { $0.rank < 7 },
      .set(\.rank) { $0.rank - 100 },
      chunkSize: 3
    )
    #expect(changed == Array(ids[..<7]))
    #expect(library.store.lastCommit == before + 3)
    before = library.store.lastCommit
    // The objects to delete are determined at the start, also where the request has an order and a limit.
    let deleted = try await library.batchDelete(
      From<Writer>().orderBy(.descending(\.rank)).limit(4),
      chunkSize: 2
    )
    #expect(deleted == [ids[6]] + ids[7...])
    #expect(library.store.lastCommit == before + 2)
    let ranks = try await library.query { try $0.fetch(From<Writer>().orderBy(\.rank)).map(\.rank) }
    #expect(ranks == Array(-100..<(-94)))
    #expect(try await library.batchDelete(From<Writer>().where { $0.rank > 0 }, chunkSize: 1) == [])
    #expect(try await library.batchDelete(From<Writer>(), chunkSize: 0).count == 6)
    #expect(try await library.verify() == [])
  }

  @Test func theErrorOfALaterChunkSaysWhatWasDone() async throws {
    let ids = try await insertWriters(6)
    var failure: ContextError?
    do throws(ContextError) {
      // The fourth is divided by zero.
      try await library.batchUpdate(
        From<Writer>(),
        .set(\.rank) { ($0.rank * 0 + 60) / ($0.rank - 3) },
        chunkSize: 2
      )
    } catch { failure = error }
    #expect(failure?.code == .missingValue)
    #expect(failure?.committedIDs == Array(ids[..<2]))
    let ranks = try await library.query { try $0.fetch(From<Writer>()).map(\.rank) }
    #expect(ranks == [-20, -30, 2, 3, 4, 5])

    failure = nil
    do throws(ContextError) {
      try await library.batchInsert(
        Writer.self,
        from: 0..<6,
        .set(\.name) { "n\($0)" },
        .set(\.rank) { $0 },
        .set(\.email) { $0 == 5 ? "e1" : "new \($0)" },
        chunkSize: 2
      )
    } catch { failure = error }
    #expect(failure?.code == .notUnique && failure?.committedIDs.count == 4)
    #expect(try await library.query { try $0.count(From<Writer>()) } == 10)

    let publishers = try await library.write { context in
      let publishers = (0..<5).map { Publisher("p\($0)") }
      for publisher in publishers { context.insert(publisher) }
      context.insert(Book("b", publisher: publishers[3]))
      return publishers.map(\.objectID)
    }
    failure = nil
    do throws(ContextError) { try await library.batchDelete(From<Publisher>(), chunkSize: 2) } catch {
      failure = error
    }
    #expect(failure?.code == .deletionDenied && failure?.committedIDs == Array(publishers[..<2]))
    #expect(try await library.query { try $0.count(From<Publisher>()) } == 3)
    failure = nil
    do throws(ContextError) { try await library.batchDelete(From<Publisher>()) } catch { failure = error }
    #expect(failure?.code == .deletionDenied && failure?.committedIDs == [])
    #expect(try await library.verify() == [])
  }

  /// Objects that an earlier chunk's rules have deleted are not in the result.
  @Test func aChunkTakesWhatIsStillThere() async throws {
    try await library.write { context in
      let publisher = Publisher("p")
      for number in 0..<4 {
        let writer = Writer("w\(number)")
        context.insert(writer)
        let book = Book("b\(number)", pages: number, publisher: publisher)
        writer.books.append(book)
      }
    }
    let deleted = try await library.batchDelete(From<Writer>().where { $0.books.count == 1 }, chunkSize: 1)
    #expect(deleted.count == 4)
    #expect(try await library.query { try $0.count(From<Book>()) } == 0)
  }
}
