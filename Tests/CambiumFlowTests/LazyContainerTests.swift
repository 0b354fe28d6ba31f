import Cambium
import Foundation
import Synchronization
import Testing

@testable import CambiumFlow

/// Opening a container when it is needed.
@Suite(.timeLimit(.minutes(60))) struct LazyContainerTests {
  private let failure = FlowError.container(Refused())

  @Test func itIsOpenedOnce() async throws {
    let (shelf, notes) = (try Shelf(), Notes())
    let container = LazyContainer {
      notes.add("opens")
      return try await shelf.open()
    } configure: { _ in
      notes.add("configures")
    }
    #expect(container.state == .initial && notes.all.isEmpty)
    let names = try await withThrowingTaskGroup { group in
      for _ in 0..<20 { group.addTask { try await container.container().name } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(names == ["Jukebox"] && notes.all == ["opens", "configures"])
    #expect(container.state == .loaded)
    #expect(try await container.container() === container.retry())
  }

  @Test func aFailureStaysUntilItIsRetried() async throws {
    let (shelf, notes) = (try Shelf(), Notes())
    let container = LazyContainer {
      notes.add("opens")
      if notes.all.count < 3 { throw Refused() }
      return try await shelf.open()
    }
    for _ in 0..<3 { await #expect(throws: failure) { try await container.container() } }
    #expect(notes.all.count == 1 && container.state == .failed(failure))
    await #expect(throws: failure) { try await container.retry() }
    #expect(notes.all.count == 2)
    try await container.retry()
    #expect(container.state == .loaded && notes.all.count == 3)
    _ = try await container.container()
    #expect(notes.all.count == 3)
  }

  @Test func aFailedConfigurationIsAFailedOpening() async throws {
    let (shelf, notes) = (try Shelf(), Notes())
    let refused = Mutex<PersistentContainer?>(nil)
    let container = LazyContainer {
      try await shelf.open()
    } configure: { container in
      refused.withLock { if $0 == nil { $0 = container } }
      notes.add("configures")
      if notes.all.count == 1 { throw Refused() }
      await MainActor.run { container.viewContext.name = "configured" }
    }
    let controller = StoreController<Title>(container)
    await #expect(throws: failure) { try await controller.save(Title("x")) }
    await #expect(throws: failure) { try await controller.delete(Title("x")) }
    await #expect(throws: failure) { try await controller.follow(.all) { _ in } }
    #expect(notes.all.count == 1)
    let first = try #require(refused.withLock { $0 })
    await #expect(throws: ContextError.self) { try await first.query { try $0.count(From<Track>()) } }
    let opened = try await container.retry()
    let name = await MainActor.run { opened.viewContext.name }
    #expect(name == "configured")
    _ = try await controller.save(Title("x"))
  }

  @Test func statesAreTold() async throws {
    let (shelf, notes) = (try Shelf(), Notes())
    let container = LazyContainer {
      notes.add("opens")
      if notes.all.count == 1 { throw Refused() }
      return try await shelf.open()
    }
    var states = container.states().makeAsyncIterator()
    #expect(await states.next() == .initial)
    await #expect(throws: failure) { try await container.container() }
    #expect(await states.next() == .loading)
    #expect(await states.next() == .failed(failure))
    try await container.retry()
    #expect(await states.next() == .loading)
    #expect(await states.next() == .loaded)
  }

  @Test func partsOfAStateTellOfTheContainer() {
    typealias State = PersistenceState<Int, FlowError, String>
    let other = FlowError.saving(Refused())
    let states: [(State, ContainerState)] = [
      (State(), .initial),
      (State(request: .failed(failure, "all"), persist: .succeeded), .failed(failure)),
      (State(request: .loading, persist: .failed(failure, 1)), .failed(failure)),
      (State(delete: .failed(failure, 1)), .failed(failure)),
      (State(request: .received([]), persist: .processing), .loaded),
      (State(request: .loading, delete: .succeeded), .loaded),
      (State(request: .loading), .loading),
      (State(persist: .processing), .loading),
      (State(request: .canceled, persist: .failed(other, 1)), .initial),
    ]
    for (state, expected) in states { #expect(state.containerLoadingState == expected) }
  }
}
