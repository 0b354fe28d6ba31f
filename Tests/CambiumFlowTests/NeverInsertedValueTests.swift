import Cambium
import Testing

@testable import CambiumFlow

/// Values of objects that were never inserted.
struct NeverInsertedValueTests {
  /// "Deleting a value that is already deleted, or was never saved, succeeds" (Docs/DataFlow.md).
  @Test func deletingOneSucceeds() async throws {
    let controller = StoreController<Title>(try Shelf().lazy())
    let draft = try Title(Track("Carey"))
    #expect(draft.objectID?.isProvisional == true)
    await #expect(throws: Never.self) { try await controller.delete(draft) }
  }

  /// A value without an object is a new one.
  @Test func savingOneInsertsIt() async throws {
    let saved = try await StoreController<Title>(try Shelf().lazy()).save(try Title(Track("Carey")))
    #expect(saved.title == "Carey")
    #expect(saved.objectID?.isProvisional == false)
  }
}
