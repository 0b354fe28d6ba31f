import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

@Model private final class Edition {
  #Unique<Edition>([\.code], ifExists: .replace)
  #Unique<Edition>([\.isbn], ifExists: .replace)
  var code: Int
  var isbn: String
  init(_ code: Int, _ isbn: String) { (self.code, self.isbn) = (code, isbn) }
}

@Model private final class Release {
  #Unique<Release>([\.code], ifExists: .replace)
  #Unique<Release>([\.isbn], ifExists: .replace)
  var code: Int
  var isbn: String?
  init(_ code: Int, _ isbn: String?) { (self.code, self.isbn) = (code, isbn) }
}

@Model private final class Subscriber {
  #Unique<Subscriber>([\.email], ifExists: .merge)
  #Unique<Subscriber>([\.token], ifExists: .merge)
  var email: String
  @Attribute(.perInsert { UUID() }) var token: UUID
  init(_ email: String, token: UUID) {
    self.email = email
    self.token = token
  }
}

/// Objects with several unique values, of which a save replaces some.
struct SeveralConstraintsTests {
  /// A row replaces a unique value of the object that it is unified with, and the next row may have the old value.
  /// One commit has the same result as a commit for each row.
  @Test(arguments: [1, 10], [true, false])
  func aValueThatIsGivenUpIsFree(chunkSize: Int, isStored: Bool) async throws {
    let store = try await PersistentContainer("Editions", models: Edition.self, at: .inMemory)
    var rows = [(1, "Y"), (2, "X")]
    if isStored {
      try await store.write { $0.insert(Edition(1, "X")) }
    } else {
      rows.insert((1, "X"), at: 0)
    }
    try await store.batchInsert(
      Edition.self,
      from: rows,
      .set(\.code) { $0.0 },
      .set(\.isbn) { $0.1 },
      chunkSize: chunkSize
    )
    let found = try await store.query { context in
      try context.fetch(From<Edition>().orderBy(\.code)).map { "\($0.code) \($0.isbn)" }
    }
    #expect(found == ["1 Y", "2 X"])
    #expect(try await store.verify().map(\.description) == [])
  }

  @Test(arguments: [1, 10]) func aValueThatBecomesNilIsFree(chunkSize: Int) async throws {
    let store = try await PersistentContainer("Releases", models: Release.self, at: .inMemory)
    try await store.write { $0.insert(Release(1, "X")) }
    let rows: [(Int, String?)] = [(1, nil), (2, "X")]
    try await store.batchInsert(
      Release.self,
      from: rows,
      .set(\.code) { $0.0 },
      .set(\.isbn) { $0.1 },
      chunkSize: chunkSize
    )
    let found = try await store.query { context in
      try context.fetch(From<Release>().orderBy(\.code)).map { "\($0.code) \($0.isbn ?? "-")" }
    }
    #expect(found == ["1 -", "2 X"])
  }

  /// The existing object keeps its token, because a merge doesn't copy values that insertions make.
  @Test(arguments: [1, 10]) func aValueThatIsKeptIsNotFree(chunkSize: Int) async throws {
    let (kept, other) = (UUID(), UUID())
    let store = try await PersistentContainer("Subscribers", models: Subscriber.self, at: .inMemory)
    try await store.write { $0.insert(Subscriber("a", token: kept)) }
    try await store.batchInsert(
      Subscriber.self,
      from: [("a", other), ("b", kept)],
      .set(\.email) { $0.0 },
      .set(\.token) { $0.1 },
      chunkSize: chunkSize
    )
    let emails = try await store.query { try $0.fetch(From<Subscriber>()).map(\.email) }
    #expect(emails == ["b"])
  }
}
