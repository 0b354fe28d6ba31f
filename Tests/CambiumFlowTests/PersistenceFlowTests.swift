import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFlow

private struct Broken: Error, Equatable {}

/// A controller whose lists the test sends.
private final class Scripted: PersistenceController {
  typealias Element = Int
  typealias Failure = Broken
  typealias Request = String

  private struct Live {
    let request: String
    let receive: @Sendable (PersistenceFetchResult<Int>) -> Void
    let end: CheckedContinuation<Void, any Error>
  }

  private let live = Mutex<[Live]>([])

  /// Odd elements can't be saved, nor deleted.
  func save(_ element: Int) async throws(Broken) -> Int {
    if element % 2 == 1 { throw Broken() }
    return element + 1000
  }

  func delete(_ element: Int) async throws(Broken) {
    if element % 2 == 1 { throw Broken() }
  }

  func follow(
    _ request: String,
    receive: @escaping @Sendable (PersistenceFetchResult<Int>) -> Void
  ) async throws(Broken) {
    do {
      try await withCheckedThrowingContinuation { end in
        live.withLock { $0.append(Live(request: request, receive: receive, end: end)) }
      }
    } catch { throw Broken() }
  }

  var requests: [String] { live.withLock { $0.map(\.request) } }

  /// Sends a result to a request, once the request has begun.
  func tell(_ number: Int, _ result: PersistenceFetchResult<Int>) async {
    while requests.count <= number { await Task.yield() }
    live.withLock { $0[number].receive }(result)
  }

  func fail(_ number: Int) async {
    while requests.count <= number { await Task.yield() }
    live.withLock { $0[number].end }.resume(throwing: Broken())
  }

  deinit { live.withLock { $0.forEach { _ in } } }
}

extension RequestState {
  /// The state's name, with the elements.
  var label: String {
    switch self {
    case .initial: "initial"
    case .loading: "loading"
    case .failed: "failed"
    case .received(let elements): "received \(elements)"
    case .canceled: "canceled"
    }
  }
}

extension ChangeState {
  /// The state's name, with the element.
  var label: String {
    switch self {
    case .initial: "initial"
    case .processing: "processing"
    case .failed(_, let element): "failed \(element)"
    case .succeeded: "succeeded"
    }
  }
}

/// The states of a store as labels, in their order, each once.
struct Labels<State: Sendable> {
  private var iterator: AsyncStream<State>.Iterator
  private let label: (State) -> String
  private(set) var all: [String] = []

  init(_ store: FlowStore<some Sendable, State>, _ label: @escaping (State) -> String) {
    iterator = store.states().makeAsyncIterator()
    self.label = label
  }

  /// Reads until a label comes, and returns all labels since the beginning.
  mutating func until(_ last: String) async -> [String] {
    while all.last != last, let state = await iterator.next() {
      if all.last != label(state) { all.append(label(state)) }
    }
    return all
  }
}

/// The store-agnostic half: actions, states, their order.
@Suite(.timeLimit(.minutes(60))) struct PersistenceFlowTests {
  private typealias State = Scripted.State

  private func store(_ controller: Scripted, refetches: Bool = true) -> FlowStore<Scripted.Action, State> {
    FlowStore(
      .initial,
      reducer: Scripted.makeReducer(refetches: refetches),
      middleware: controller.makeMiddleware()
    )
  }

  private func difference(_ old: [Int], _ new: [Int]) -> PersistenceFetchResult<Int> {
    .difference(new.difference(from: old))
  }

  // MARK: The order of states

  @Test func aRequestIsLoadedReceivedAndCanceled() async {
    let controller = Scripted()
    let store = store(controller)
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.tell(0, .elements([1, 2]))
    _ = await labels.until("received [1, 2]")
    await controller.tell(0, difference([1, 2], [2, 3]))
    _ = await labels.until("received [2, 3]")
    store.dispatch(.cancelRequest)
    let expected = ["initial", "loading", "received [1, 2]", "received [2, 3]", "canceled"]
    #expect(await labels.until("canceled") == expected)
  }

  @Test func aRequestFails() async {
    let controller = Scripted()
    let store = store(controller)
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.fail(0)
    #expect(await labels.until("failed") == ["initial", "loading", "failed"])
    #expect(store.state.request == .failed(Broken(), "all"))
  }

  @Test func savesAndDeletionsAreProcessed() async {
    let store = store(Scripted())
    var saves = Labels(store) { $0.persist.label }
    var deletions = Labels(store) { $0.delete.label }
    store.dispatch(.save(2))
    _ = await saves.until("succeeded")
    store.dispatch(.save(3))
    #expect(
      await saves.until("failed 3") == ["initial", "processing", "succeeded", "processing", "failed 3"]
    )
    store.dispatch(.delete(4))
    _ = await deletions.until("succeeded")
    store.dispatch(.delete(5))
    let expected = ["initial", "processing", "succeeded", "processing", "failed 5"]
    #expect(await deletions.until("failed 5") == expected)
    #expect(store.state.request == .initial)
  }

  @Test func everySaveTellsOfItsEnd() async {
    let store = store(Scripted())
    var steps = Labels(store) { "\($0.persist.label)" }
    for element in 0..<100 { store.dispatch(.save(element * 2)) }
    #expect(await steps.until("succeeded").last == "succeeded")
  }

  @Test func aSavedElementIsTold() async {
    let saved = Mutex<[Int]>([])
    let watching = EffectMiddleware<Scripted.Action, Scripted.Action, State> { action, _, _ in
      if let element = action.savedElement { saved.withLock { $0.append(element) } }
      return .doNothing
    }
    let store = FlowStore(
      .initial,
      reducer: Scripted.makeReducer(),
      middleware: Scripted().makeMiddleware() <> watching
    )
    store.dispatch(.save(2))
    for await state in store.states() where state.persist == .succeeded { break }
    #expect(saved.withLock { $0 } == [1002])
  }

  @Test func resultsComeFromWhereTheirCauseComesFrom() async {
    let sources = Mutex<Set<ActionSource>>([])
    let watching = EffectMiddleware<Scripted.Action, Scripted.Action, State> { _, source, _ in
      _ = sources.withLock { $0.insert(source) }
      return .doNothing
    }
    let store = FlowStore(
      .initial,
      reducer: Scripted.makeReducer(),
      middleware: watching <> Scripted().makeMiddleware()
    )
    store.dispatch(.save(2), info: "here")
    for await state in store.states() where state.persist == .succeeded { break }
    #expect(sources.withLock { $0.map(\.info) } == ["here"])
  }

  // MARK: Late and wrong differences

  @Test func aLateDifferenceDoesNotReviveACanceledRequest() async {
    let controller = Scripted()
    let store = store(controller)
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.tell(0, .elements([1]))
    _ = await labels.until("received [1]")
    await store.send(.cancelRequest)
    await controller.tell(0, difference([1], [1, 2]))
    await controller.tell(0, .elements([7]))
    await store.send(.save(2))
    #expect(store.state.request == .canceled)
    // A result that was already on its way is dropped, too.
    let reducer = Scripted.makeReducer()
    for ended in [RequestState<Int, Broken, String>.canceled, .failed(Broken(), "all")] {
      var state = State(request: ended)
      reducer.reduce(Scripted.Action(.received(difference([], [1]), number: 0, place: 1)), &state)
      #expect(state.request == ended)
    }
  }

  @Test func aLateResultDoesNotReachTheNextRequest() async {
    let controller = Scripted()
    let store = store(controller)
    var labels = Labels(store) { $0.request.label }
    await store.send(.request("first"))
    await controller.tell(0, .elements([1]))
    _ = await labels.until("received [1]")
    await store.send(.request("second"))
    await controller.tell(0, .elements([100]))
    await controller.tell(1, .elements([2]))
    let expected = ["initial", "loading", "received [1]", "loading", "received [2]"]
    #expect(await labels.until("received [2]") == expected)
    #expect(controller.requests == ["first", "second"])
    // Results that were on their way when the second request began have the number of the first.
    var state = State()
    let reducer = Scripted.makeReducer()
    for action in [Scripted.Action.request("first"), .request("second")] { reducer.reduce(action, &state) }
    reducer.reduce(Scripted.Action(.received(.elements([100]), number: 1, place: 1)), &state)
    reducer.reduce(Scripted.Action(.requestFailed(Broken(), "first", number: 1)), &state)
    #expect(state.request == .loading)
  }

  @Test func aDifferenceBeforeTheListHasTheInserted() {
    let reducer = Scripted.makeReducer()
    for start in [RequestState<Int, Broken, String>.initial, .loading] {
      var state = State(request: start)
      reducer.reduce(Scripted.Action(.received(difference([9], [1, 2]), number: 0, place: 1)), &state)
      #expect(state.request == .received([1, 2]))
      state = State(request: start)
      reducer.reduce(Scripted.Action(.received(.difference(nil), number: 0, place: 1)), &state)
      #expect(state.request == .received([]))
    }
  }

  @Test func aDifferenceThatDoesNotApplyIsFetchedAgain() async {
    let (controller, reducer) = (Scripted(), Scripted.makeReducer())
    // The program changes the list by itself.
    let clearing = Reducer<Scripted.Action, State> { action, state in
      if case .save = action.kind { state.request = .received([]) }
    }
    let store = FlowStore(.initial, reducer: reducer <> clearing, middleware: controller.makeMiddleware())
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.tell(0, .elements([1, 2, 3]))
    _ = await labels.until("received [1, 2, 3]")
    await store.send(.save(2))
    await controller.tell(0, difference([1, 2, 3], [1, 2]))
    await controller.tell(1, .elements([1, 2]))
    let expected = ["initial", "loading", "received [1, 2, 3]", "received []", "loading", "received [1, 2]"]
    #expect(await labels.until("received [1, 2]") == expected)
    #expect(controller.requests == ["all", "all"])
  }

  @Test func aDifferenceThatDoesNotApplyMayEmptyTheList() {
    let reducer = Scripted.makeReducer(refetches: false)
    for result in [difference([1, 2, 3], [1, 2]), .difference(nil)] {
      var state = State(request: .received([]))
      reducer.reduce(Scripted.Action(.received(result, number: 0, place: 1)), &state)
      #expect(state.request == .received([]))
    }
  }

  /// The program removes an element before it is told of the deletion. The offset in the difference is then that of
  /// another element.
  @Test func anElementThatIsTakenAwayEarlyTakesNoOther() async {
    let (controller, reducer) = (Scripted(), Scripted.makeReducer())
    let optimistic = Reducer<Scripted.Action, State> { action, state in
      guard case .delete(let element) = action.kind, let list = state.request.elements else { return }
      state.request = .received(list.filter { $0 != element })
    }
    let store = FlowStore(.initial, reducer: reducer <> optimistic, middleware: controller.makeMiddleware())
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.tell(0, .elements([2, 4, 6]))
    _ = await labels.until("received [2, 4, 6]")
    await store.send(.delete(2))
    await controller.tell(0, difference([2, 4, 6], [4, 6]))
    await controller.tell(1, .elements([4, 6]))
    await controller.tell(1, difference([4, 6], [4, 6, 8]))
    let expected = [
      "initial", "loading", "received [2, 4, 6]", "received [4, 6]", "loading", "received [4, 6]",
      "received [4, 6, 8]",
    ]
    #expect(await labels.until("received [4, 6, 8]") == expected)
  }

  /// If the program replaces the whole state, the live request continues in the new state if this state has a list.
  @Test func aStateThatIsReplacedHearsOfTheLiveRequest() {
    let reducer = Scripted.makeReducer()
    for request in [State.initial.request, .received([1])] {
      var state = State(request: request)
      reducer.reduce(Scripted.Action(.received(.elements([1, 2]), number: 5, place: 1)), &state)
      #expect(state.request == (request == .initial ? .initial : .received([1, 2])))
      reducer.reduce(Scripted.Action(.received(.elements([0]), number: 4, place: 1)), &state)
      #expect(state.request != .received([0]))
    }
  }

  /// An undo, or the rollback of an optimistic change, brings back the state of an earlier result or of an earlier
  /// request.
  @Test(arguments: [false, true]) func aStateThatIsPutBackBeginsAgain(isOlderRequest: Bool) async {
    let controller = Scripted()
    let kept = Mutex<State?>(nil)
    let undoing = Reducer<Scripted.Action, State> { action, state in
      if case .delete = action.kind, let before = kept.withLock({ $0 }) { state = before }
    }
    let store = FlowStore(
      .initial,
      reducer: Scripted.makeReducer() <> undoing,
      middleware: controller.makeMiddleware()
    )
    var labels = Labels(store) { $0.request.label }
    store.dispatch(.request("all"))
    await controller.tell(0, .elements([2, 4, 6]))
    _ = await labels.until("received [2, 4, 6]")
    kept.withLock { $0 = store.state }
    if isOlderRequest {
      await store.send(.request("all"))
      await controller.tell(1, .elements([4, 6]))
    } else {
      await controller.tell(0, difference([2, 4, 6], [4, 6]))
    }
    _ = await labels.until("received [4, 6]")
    await store.send(.delete(8))
    await controller.tell(isOlderRequest ? 1 : 0, difference([4, 6], [6]))
    let next = isOlderRequest ? 2 : 1
    await controller.tell(next, .elements([6]))
    let ending = ["received [2, 4, 6]", "loading", "received [6]"]
    #expect(await labels.until("received [6]").suffix(3) == ending[...])
    #expect(controller.requests.count == next + 1)
  }

  /// Random lists that are sent as differences arrive unchanged.
  @Test func randomDifferencesArrive() async {
    var random = SeededGenerator()
    let controller = Scripted()
    let store = store(controller)
    store.dispatch(.request("all"))
    var list = [0]
    await controller.tell(0, .elements(list))
    for step in 1...200 {
      let old = list
      list = (0..<random.number(in: 0...10)).map { _ in random.number(in: 0...20) } + [step + 100]
      await controller.tell(0, random.chance(1, in: 10) ? .elements(list) : difference(old, list))
    }
    let last = list
    for await state in store.states() where state.request.elements == last { break }
    #expect(store.state.request == .received(last))
    #expect(controller.requests == ["all"])
  }
}
