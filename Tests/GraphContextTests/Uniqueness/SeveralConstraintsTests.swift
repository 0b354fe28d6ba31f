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

/// Objects with several unique values, of which a save replaces some.
struct SeveralConstraintsTests {
  /// A row takes a value from the object that it is settled with: the next row may have that value. One commit does what a commit for each row does.
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
    #expect(try store.verify().map(\.description) == [])
  }
}
