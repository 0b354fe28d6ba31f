import Cambium
import Foundation
import Testing

@testable import CambiumFlow

/// A value that can't be read back isn't stored: a program that offers it again would store it twice.
struct ValueSavingTests {
  @Test func aFailedSaveStoresNothing() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(container)
    await #expect(throws: FlowError.value(Refused())) { try await controller.save(Title("unreadable")) }
    let count = try await container.container().query { try $0.count(From<Track>()) }
    #expect(count == 0)
  }
}
