import Cambium
import CambiumOperations
import Testing

/// A fetch operation whose values can't be read.
struct FetchOperationFailureTests {
  /// A getter that can't read returns a placeholder, and its context notes the error. `query`, of which the operation
  /// is a wrapper, throws that error. The operation must not deliver the placeholders as a success.
  @Test func valuesThatCannotBeReadAreAFailure() async throws {
    let depot = try await Depot()
    let ids = try await depot.container.write { (context: ManagedObjectContext) throws -> [ManagedObjectID] in
      ["a", "b"].map { code -> ManagedObjectID in
        let parcel = Parcel(code, weight: 5)
        context.insert(parcel)
        return parcel.objectID
      }
    }
    try await depot.container.batchDelete(From<Parcel>().where { $0.code == "b" })
    let gone = ids[1]
    let weight: @Sendable (Parcel) throws -> Int = { parcel in
      guard let context = parcel.context else { return -1 }
      return try context.object(Parcel.self, with: gone).weight
    }
    let byQuery = await #expect(throws: ContextError.self) {
      try await depot.container.query { context in try context.fetch(From<Parcel>()).map(weight) }
    }
    #expect(byQuery?.code == .objectNotFound)
    let operation = FetchOperation(depot.container, From<Parcel>(), as: weight)
    let byOperation = await #expect(throws: ContextError.self) { try await operation.run() }
    #expect(byOperation?.code == .objectNotFound)
  }
}
