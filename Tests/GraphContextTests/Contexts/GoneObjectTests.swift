import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// What becomes of objects that others delete while somebody here holds on to them.
@Suite struct GoneObjectTests {
  /// A context with the saved objects that `make` inserts into it.
  private static func context(
    _ make: (ManagedObjectContext) -> Void
  ) async throws -> (library: PersistentContainer, context: ManagedObjectContext) {
    let library = try await Library.open()
    let context = try library.context()
    make(context)
    try context.save()
    return (library, context)
  }

  private static func deleteElsewhere(_ object: some ManagedObject, in library: PersistentContainer) throws {
    func delete<Object: ManagedObject>(_ object: Object) throws {
      let other = try library.context()
      other.delete(try other.existingObject(Object.self, with: object.objectID))
      try other.save()
      other.end()
    }
    try delete(object)
  }

}
