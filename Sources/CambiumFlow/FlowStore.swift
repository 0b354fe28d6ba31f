import Synchronization

/// A state that changes by actions alone, one after the other.
///
/// ```swift
/// let store = FlowStore(0, reducer: Reducer<Int, Int> { action, state in state += action })
/// store.dispatch(2)
/// for await state in store.states() { print(state) }
/// ```
///
/// For each action: every middleware sees it, with the state before; the reducer makes the new state; the store
/// emits the state; the closures that the middlewares have added to `afterReducer` run, in the reverse order of the
/// middlewares. Actions that middlewares dispatch come after the actions that are waiting.
///
/// The store works on the executor of an actor: by default one of its own, or for example the main actor. No main
/// queue has to be drained.
public actor FlowStore<Action: Sendable, State: Sendable> {
  private let host: any Actor
  private let reducer: Reducer<Action, State>
  private let middleware: AnyMiddleware<Action, Action, State>
  private let emission: Emission<State>
  private let published: Published<State>
  private let inbox: Inbox<Action>
  private var isProcessing = false

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - initial: the state before the first action.
  ///   - reducer: makes the next state.
  ///   - middleware: sees every action; it belongs to this store.
  ///   - emission: the states that the store emits.
  ///   - host: the actor on whose executor the store works: `MainActor.shared` for a user interface, or an actor
  ///     with an executor of the program's own; by default an actor that only this store uses.
  public init(
    _ initial: State,
    reducer: Reducer<Action, State>,
    middleware: any Middleware<Action, Action, State> = AnyMiddleware<Action, Action, State>.identity,
    emission: Emission<State> = .always,
    on host: any Actor = OwnActor()
  ) {
    (self.reducer, self.middleware, self.emission) = (reducer, AnyMiddleware(middleware), emission)
    (self.host, published, inbox) = (host, Published(initial), Inbox())
    let published = published
    let output = ActionHandler<Action> { [weak self] in self?.dispatch($0) }
    self.middleware.receiveContext(getState: { published.value }, output: output)
  }

  /// The executor of the actor that the store was given.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { host.unownedExecutor }

  /// The state after the last action that was handled, on any thread.
  public nonisolated var state: State { published.value }

  /// Returns the current state, and then every state that is emitted, in order. States that the consumer has not read
  /// yet stay in memory. The sequence ends with the store.
  public nonisolated func states() -> AsyncStream<State> { published.values() }

  /// Has an action handled after those that are waiting, and returns at once. From any thread.
  public nonisolated func dispatch(_ action: Action, from source: ActionSource) {
    dispatch(DispatchedAction(action, from: source))
  }

  private nonisolated func dispatch(_ action: DispatchedAction<Action>) {
    guard inbox.append(action) else { return }
    Task { await processAll() }
  }

  /// Has an action handled after those that are waiting, and returns at once. From any thread.
  public nonisolated func dispatch(
    _ action: Action,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line,
    info: String? = nil
  ) {
    dispatch(action, from: ActionSource(file: file, function: function, line: line, info: info))
  }

  /// Has an action handled after those that are waiting, and returns the state afterwards. Effects may go on.
  @discardableResult
  public func send(
    _ action: Action,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line,
    info: String? = nil
  ) -> State {
    let source = ActionSource(file: file, function: function, line: line, info: info)
    _ = inbox.append(DispatchedAction(action, from: source))
    processAll()
    return published.value
  }

  private func processAll() {
    if isProcessing { return }
    isProcessing = true
    defer { isProcessing = false }
    var batch = inbox.takeAll()
    while !batch.isEmpty {
      batch.forEach(process)
      batch = inbox.takeAll()
    }
  }

  private func process(_ next: DispatchedAction<Action>) {
    // An action before this one may have cancelled the effect that has sent it.
    if let isWanted = next.isWanted, !isWanted() { return }
    var afterReducer = AfterReducer()
    middleware.handle(next.action, from: next.source, afterReducer: &afterReducer)
    let old = published.value
    var state = old
    reducer.reduce(next.action, &state)
    published.set(state, tells: emission.tells(old, state))
    afterReducer.run()
  }
}

/// The rule for the states that a store emits.
public struct Emission<State: Sendable>: Sendable {
  let tells: @Sendable (_ old: State, _ new: State) -> Bool

  /// The state after each action.
  public static var always: Emission { Emission { _, _ in true } }
  /// No state but the first state of a sequence.
  public static var never: Emission { Emission { _, _ in false } }

  /// Returns the states for which the condition is true.
  public static func when(_ condition: @escaping @Sendable (_ old: State, _ new: State) -> Bool) -> Emission {
    Emission(tells: condition)
  }
}

extension Emission where State: Equatable {
  /// The states that differ from the state before.
  public static var whenDifferent: Emission { Emission { $0 != $1 } }
}

/// An actor that has nothing but an executor.
public actor OwnActor {
  /// Makes one.
  public init() {}
}

/// Actions that wait for their turn.
private final class Inbox<Action: Sendable>: Sendable {
  private struct Core {
    var waiting: [DispatchedAction<Action>] = []
    var isScheduled = false
  }

  private let core = Mutex(Core())

  /// Adds an action, and returns true if the caller must schedule a turn, because none was scheduled since the
  /// inbox was empty.
  func append(_ action: DispatchedAction<Action>) -> Bool {
    core.withLock { core in
      core.waiting.append(action)
      defer { core.isScheduled = true }
      return !core.isScheduled
    }
  }

  /// Removes and returns the waiting actions, in order; empty if no action waits.
  func takeAll() -> [DispatchedAction<Action>] {
    core.withLock { core in
      defer { core.waiting = [] }
      if core.waiting.isEmpty { core.isScheduled = false }
      return core.waiting
    }
  }
}
