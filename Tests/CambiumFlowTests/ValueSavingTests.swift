import Cambium
import Foundation
import Testing

@testable import CambiumFlow

/// A value that can't be read back isn't stored. Otherwise a program that saves it again would store it twice.
struct ValueSavingTests {
  @Test func aFailedSaveStoresNothing() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(container)
    await #expect(throws: FlowError.value(Refused())) { try await controller.save(Title("unreadable")) }
    let count = try await container.container().query { try $0.count(From<Track>()) }
    #expect(count == 0)
  }

  @Test func whatIsStoredIsSaved() async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Title>(container)
    for title in ["unreadable once stored", "hasty"] {
      let saved = try await controller.save(Title(title))
      let named = From<Track>().where { $0.title == title }
      let ids = try await container.container().query { try $0.fetchIDs(named) }
      #expect(saved.title == title && [saved.objectID] == ids)
    }
  }

  /// The request ends for every place in which the list is followed.
  @Test(.timeLimit(.minutes(60)), arguments: [FollowingPlace.store, .viewContext])
  func closingTheStoreEndsARequest(_ place: FollowingPlace) async throws {
    let container = try Shelf().lazy()
    let controller = StoreController<Track.Values>(container, following: place)
    let (first, isThere) = AsyncStream<Void>.makeStream()
    let request = Task { try await controller.follow(.all) { _ in isThere.yield() } }
    for await _ in first { break }
    try await container.container().close()
    await #expect(throws: FlowError.self) { try await request.value }
  }
}
