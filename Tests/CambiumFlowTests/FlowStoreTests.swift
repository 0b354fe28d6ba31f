import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFlow

/// Strings that any thread may add.
final class Notes: Sendable {
  private let list = Mutex<[String]>([])

  func add(_ note: String) { list.withLock { $0.append(note) } }
  var all: [String] { list.withLock { $0 } }
}

/// A middleware that records the actions that it sees.
struct Noting: Middleware {
  let name: String
  let notes: Notes
  let state = StateBox()

  final class StateBox: Sendable {
    let get = Mutex<(@Sendable () -> Int)?>(nil)
  }

  func receiveContext(getState: @escaping @Sendable () -> Int, output: ActionHandler<Int>) {
    state.get.withLock { $0 = getState }
  }

  func handle(_ action: Int, from source: ActionSource, afterReducer: inout AfterReducer) {
    let now = { [state] in state.get.withLock { $0?() ?? -1 } }
    notes.add("\(name) sees \(action) at \(now())")
    afterReducer.add { [notes, name] in notes.add("\(name) after \(now())") }
  }
}

/// The store: its order, its effects, its composition.
@Suite(.timeLimit(.minutes(60))) struct FlowStoreTests {
  private let adding = Reducer<Int, Int> { action, state in state += action }

  // MARK: The pipeline

  @Test func anActionGoesThroughMiddlewaresReducerAndBack() async {
    let notes = Notes()
    let middleware = Noting(name: "a", notes: notes) <> Noting(name: "b", notes: notes)
    let reducer = Reducer<Int, Int> { action, state in
      notes.add("reduces")
      state += action
    }
    let store = FlowStore(10, reducer: reducer, middleware: middleware)
    #expect(await store.send(5) == 15)
    #expect(notes.all == ["a sees 5 at 10", "b sees 5 at 10", "reduces", "b after 15", "a after 15"])
  }

  @Test @MainActor func outputsComeAfterWhatWaits() async {
    let notes = Notes()
    let middleware = EffectMiddleware<Int, Int, Int> { action, _, _ in action == 1 ? .just(100) : .doNothing }
    let reducer = Reducer<Int, Int> { action, state in
      notes.add("\(action)")
      state += action
    }
    // The test has the store's actor until both actions wait.
    let store = FlowStore(0, reducer: reducer, middleware: middleware, on: MainActor.shared)
    store.dispatch(1)
    store.dispatch(2)
    for await state in store.states() where state == 103 { break }
    #expect(notes.all == ["1", "2", "100"])
  }

  @Test func actionsSayWhereTheyComeFrom() async {
    let sources = Mutex<[ActionSource]>([])
    let middleware = EffectMiddleware<Int, Int, Int> { action, source, _ in
      sources.withLock { $0.append(source) }
      return action == 1 ? .just(100) : .doNothing
    }
    let store = FlowStore(0, reducer: adding, middleware: middleware)
    let line: UInt = #line + 1
    store.dispatch(1, info: "first")
    for await state in store.states() where state == 101 { break }
    let expected = ActionSource(
      file: "CambiumFlowTests/FlowStoreTests.swift",
      function: "actionsSayWhereTheyComeFrom()",
      line: line,
      info: "first"
    )
    #expect(sources.withLock { $0 } == [expected, expected])
  }

  @Test func actionsOfOneThreadStayInOrder() async {
    var random = SeededGenerator()
    let appending = Reducer<Int, [Int]> { action, state in state.append(action) }
    let store = FlowStore([], reducer: appending)
    let counts = (0..<6).map { _ in random.number(in: 1...300) }
    await withTaskGroup { group in
      for (number, count) in counts.enumerated() {
        group.addTask { for step in 0..<count { store.dispatch(number * 1000 + step) } }
      }
    }
    let total = counts.reduce(0, +)
    for await state in store.states() where state.count == total { break }
    for (number, count) in counts.enumerated() {
      #expect(store.state.filter { $0 / 1000 == number } == (0..<count).map { number * 1000 + $0 })
    }
  }

  @Test func anActionOfAnAfterReducerIsNotNested() async {
    struct Echo: Middleware {
      func receiveContext(getState: @escaping @Sendable () -> Int, output: ActionHandler<Int>) {
        box.output.withLock { $0 = output }
      }
      let box = Box()
      final class Box: Sendable { let output = Mutex<ActionHandler<Int>?>(nil) }

      func handle(_ action: Int, from source: ActionSource, afterReducer: inout AfterReducer) {
        guard action > 0 else { return }
        afterReducer.add { [box] in box.output.withLock { $0 }?.dispatch(action - 1, from: source) }
      }
    }
    let store = FlowStore(0, reducer: adding, middleware: Echo())
    await store.send(4)
    #expect(store.state == 4 + 3 + 2 + 1)
  }

  // MARK: Telling

  @Test func statesBeginWithTheOneAtHand() async {
    let store = FlowStore(0, reducer: adding)
    await store.send(1)
    var states = store.states().makeAsyncIterator()
    await store.send(2)
    #expect(await states.next() == 1)
    #expect(await states.next() == 3)
  }

  @Test func theEmissionSaysWhichStatesAreTold() async {
    let emissions: [(Emission<Int>, [Int])] = [
      (.always, [0, 0, 1, 1, 2]), (.whenDifferent, [0, 1, 2]), (.never, [0]),
      (.when { _, new in new == 2 }, [0, 2]),
    ]
    for (emission, expected) in emissions {
      var store: FlowStore<Int, Int>? = FlowStore(0, reducer: adding, emission: emission)
      let states = store!.states()
      for action in [0, 1, 0, 1] { await store?.send(action) }
      #expect(store?.state == 2)
      // The sequence ends with the store.
      store = nil
      var told: [Int] = []
      for await state in states { told.append(state) }
      #expect(told == expected)
    }
  }

  @Test @MainActor func aStoreWorksWhereItIsTold() async {
    let notes = Notes()
    let reducer = Reducer<Int, Int> { action, state in
      MainActor.assumeIsolated { notes.add("main") }
      state += action
    }
    let store = FlowStore(0, reducer: reducer, on: MainActor.shared)
    await store.send(1)
    store.dispatch(1)
    for await state in store.states() where state == 2 { break }
    #expect(notes.all == ["main", "main"])
  }

  // MARK: Effects

  private enum Search: Sendable {
    case text(String)
    case stop
    case found(String)
  }

  /// Effects wait until the test lets them continue.
  private actor Catalogue {
    private var waiting: [String: CheckedContinuation<Void, Never>] = [:]

    func find(_ text: String) async -> String {
      await withCheckedContinuation { waiting[text] = $0 }
      return "found \(text)"
    }

    func release(_ text: String) async {
      while waiting[text] == nil { await Task.yield() }
      waiting.removeValue(forKey: text)?.resume()
    }
  }

  private func searching(
    _ catalogue: Catalogue,
    token: EffectToken?
  ) -> FlowStore<Search, [String]> {
    let middleware = EffectMiddleware<Search, Search, [String]>.onAction {
      (action, _, _, catalogue: Catalogue) in
      switch action {
      case .text(let text): .run(token: token) { send in send(.found(await catalogue.find(text))) }
      case .stop: token.map { .toCancel($0) } ?? .doNothing
      case .found: .doNothing
      }
    }
    let reducer = Reducer<Search, [String]> { action, state in
      if case .found(let text) = action { state.append(text) }
    }
    return FlowStore([], reducer: reducer, middleware: middleware.inject(catalogue))
  }

  @Test func aNewEffectTakesThePlaceOfTheOldOne() async {
    let catalogue = Catalogue()
    let store = searching(catalogue, token: "search")
    await store.send(.text("a"))
    await store.send(.text("b"))
    await catalogue.release("a")
    await catalogue.release("b")
    for await state in store.states() where !state.isEmpty { break }
    #expect(store.state == ["found b"])
  }

  @Test func aCancelledEffectSendsNothing() async {
    let catalogue = Catalogue()
    let store = searching(catalogue, token: "search")
    await store.send(.text("a"))
    await store.send(.stop)
    await catalogue.release("a")
    await store.send(.text("b"))
    await catalogue.release("b")
    for await state in store.states() where !state.isEmpty { break }
    #expect(store.state == ["found b"])
  }

  /// The cancellation handler of a task may use the store.
  @Test func aCancelledEffectMayDispatch() async {
    let middleware = EffectMiddleware<Int, Int, Int> { action, _, _ in
      action > 10
        ? .doNothing
        : .run(token: "wait") { send in
          await withTaskCancellationHandler {
            try? await Task.sleep(for: .seconds(600))
          } onCancel: {
            send(100)
          }
        }
    }
    let store = FlowStore(0, reducer: adding, middleware: middleware)
    for action in 1...5 {
      await store.send(action)
      for _ in 0..<20 { await Task.yield() }
    }
    #expect(store.state == 15)
  }

  private enum Question: Sendable {
    case ask, forget, answer

    var itself: Question? { self }
  }

  /// A wait that asynchronous code can call. It blocks the main thread, and with it a store of the main actor.
  private func hold(until semaphore: DispatchSemaphore) {
    #expect(semaphore.wait(timeout: .now() + 3_600) == .success)
  }

  /// The answer is sent before the store has handled the action that was dispatched earlier.
  @Test(arguments: [false, true]) @MainActor
  func anAnswerBehindItsCancellationGoesNowhere(isAskedAgain: Bool) async throws {
    let (asked, ask) = AsyncStream<Void>.makeStream()
    let (gate, open) = AsyncStream<Void>.makeStream()
    let sent = DispatchSemaphore(value: 0)
    let middleware = EffectMiddleware<Question, Question, Int> { action, _, _ in
      switch action {
      case .ask:
        .run(token: "question") { send in
          ask.yield()
          for await _ in gate { break }
          send(.answer)
          sent.signal()
        }
      case .forget: .toCancel("question")
      case .answer: .doNothing
      }
    }
    // The middleware is lifted, like the middleware of a part of a program.
    let lifted = middleware.lift(inputAction: \Question.itself, outputAction: { $0 }, state: \Int.self)
    let reducer = Reducer<Question, Int> { action, state in if case .answer = action { state += 1 } }
    let store = FlowStore(0, reducer: reducer, middleware: lifted, on: MainActor.shared)
    store.dispatch(.ask)
    for await _ in asked { break }
    store.dispatch(isAskedAgain ? .ask : .forget)
    open.yield()
    hold(until: sent)
    try await Task.sleep(for: .milliseconds(100))
    #expect(store.state == 0)
    if !isAskedAgain { return }
    open.yield()
    for await state in store.states() where state == 1 { break }
  }

  @Test func effectsWithoutATokenLiveUntilTheyEnd() async {
    let catalogue = Catalogue()
    let store = searching(catalogue, token: nil)
    await store.send(.text("a"))
    await store.send(.text("b"))
    await catalogue.release("b")
    for await state in store.states() where state.count == 1 { break }
    await catalogue.release("a")
    for await state in store.states() where state.count == 2 { break }
    #expect(store.state == ["found b", "found a"])
  }

  // MARK: Composition

  private struct Whole: Sendable, Equatable {
    var left = 0
    var right = 10
  }

  private enum WholeAction: Sendable {
    case left(Int)
    case right(Int)

    var left: Int? { if case .left(let action) = self { action } else { nil } }
    var right: Int? { if case .right(let action) = self { action } else { nil } }
  }

  @Test func reducersAreComposedFromLeftToRight() {
    let doubling = Reducer<Int, Int> { _, state in state *= 2 }
    var state = 1
    (adding <> doubling).reduce(2, &state)
    #expect(state == 6)
    (doubling <> adding <> .identity).reduce(2, &state)
    #expect(state == 14)
  }

  @Test func partsAreLifted() async {
    let notes = Notes()
    let reducer =
      adding.lift(action: \WholeAction.left, state: \Whole.left)
      <> adding.lift(action: \WholeAction.right, state: \Whole.right)
    let left = Noting(name: "left", notes: notes)
      .lift(inputAction: \WholeAction.left, outputAction: WholeAction.left, state: \Whole.left)
    let right = EffectMiddleware<Int, Int, Int> { action, _, getState in
      notes.add("right sees \(action) at \(getState())")
      return action == 1 ? .just(5) : .doNothing
    }.lift(inputAction: \WholeAction.right, outputAction: WholeAction.right, state: \Whole.right)
    let store = FlowStore(Whole(), reducer: reducer, middleware: left <> right)
    await store.send(.left(2))
    await store.send(.right(1))
    for await state in store.states() where state == Whole(left: 2, right: 16) { break }
    #expect(notes.all == ["left sees 2 at 0", "left after 2", "right sees 1 at 10", "right sees 5 at 11"])
  }

  @Test func compositionsAreFlat() {
    let part = { Noting(name: $0, notes: Notes()) }
    let composed = (part("a") <> part("b")) <> IdentityMiddleware<Int, Int, Int>() <> AnyMiddleware(part("c"))
    #expect(composed.parts.map { ($0 as? Noting)?.name } == ["a", "b", "c"])
    #expect((AnyMiddleware<Int, Int, Int>.identity <> AnyMiddleware.identity).parts.isEmpty)
  }
}
