import Synchronization

/// A name for an effect, by which it is replaced or cancelled.
public struct EffectToken: Hashable, Sendable, ExpressibleByStringLiteral {
  private let name: String

  /// Makes a token; tokens with equal names are equal.
  public init(_ name: String) { self.name = name }

  /// Makes a token; tokens with equal names are equal.
  public init(stringLiteral name: String) { self.name = name }
}

/// The answer of a middleware to an action: asynchronous work that dispatches any number of actions, the
/// cancellation of such work, or nothing.
public struct Effect<OutputAction: Sendable>: Sendable {
  /// A closure that dispatches an action.
  public typealias Send = @Sendable (OutputAction) -> Void

  enum Kind: Sendable {
    case nothing
    case cancel(EffectToken)
    case run(EffectToken?, @Sendable (@escaping Send) async -> Void)
  }
  let kind: Kind

  /// An effect that does nothing.
  public static var doNothing: Effect { Effect(kind: .nothing) }

  /// Cancels the effect with this token, if there is one. Actions that it sends from now on are dropped, and so are
  /// actions that it has sent and that a ``FlowStore`` hasn't handled.
  public static func toCancel(_ token: EffectToken) -> Effect { Effect(kind: .cancel(token)) }

  /// Runs a task.
  ///
  /// - Parameters:
  ///   - token: the effect's name: a new effect replaces and cancels the effect with the same token. An effect
  ///     without a token runs until it ends.
  ///   - body: the task. The actions that it sends are dispatched, until the effect is cancelled.
  public static func run(
    token: EffectToken? = nil,
    _ body: @escaping @Sendable (_ send: @escaping Send) async -> Void
  ) -> Effect {
    Effect(kind: .run(token, body))
  }

  /// Dispatches one action.
  public static func just(_ action: OutputAction) -> Effect { .run { send in send(action) } }
}

/// An effect with a token. The object lives as long as the effect's work, and as long as an action that the effect
/// has sent waits for its turn.
private final class NumberedEffect: Sendable {
  let number: Int
  private let end: @Sendable () -> Void

  init(_ number: Int, end: @escaping @Sendable () -> Void) { (self.number, self.end) = (number, end) }

  deinit { end() }
}

/// A runner of effects, which keeps track of those that have a token. When the runner is deallocated, it cancels
/// effects with tokens.
public final class EffectRunner: Sendable {
  private struct Running {
    let number: Int
    let task: Task<Void, Never>
  }

  private struct Core {
    var running: [EffectToken: Running] = [:]
    var nextNumber = 0
  }

  private let core = Mutex(Core())

  /// Makes a runner of no effects.
  public init() {}

  // Tasks are cancelled outside the lock, because their cancellation handlers may call this runner.
  deinit { core.withLock(\.running).values.forEach { $0.task.cancel() } }

  /// Runs an effect.
  ///
  /// - Parameters:
  ///   - effect: the effect.
  ///   - source: the source of the actions that the effect sends.
  ///   - output: the handler that receives these actions.
  public func run<OutputAction>(
    _ effect: Effect<OutputAction>,
    from source: ActionSource,
    to output: ActionHandler<OutputAction>
  ) {
    switch effect.kind {
    case .nothing: return
    case .cancel(let token): core.withLock { $0.running.removeValue(forKey: token) }?.task.cancel()
    case .run(nil, let body): Task { await body { output.dispatch($0, from: source) } }
    case .run(let token?, let body):
      run(body, token) { action, isWanted in
        if isWanted() { output.dispatch(DispatchedAction(action, from: source, ifStill: isWanted)) }
      }
    }
  }

  /// Runs an effect, which replaces the effect with the same token.
  ///
  /// - Parameter send: dispatches an action. The closure that it gets returns false once the effect was cancelled
  ///   or replaced, and it keeps the effect alive.
  private func run<OutputAction>(
    _ body: @escaping @Sendable (@escaping Effect<OutputAction>.Send) async -> Void,
    _ token: EffectToken,
    _ send: @escaping @Sendable (OutputAction, @escaping @Sendable () -> Bool) -> Void
  ) {
    let number = core.withLock { core in
      core.nextNumber += 1
      return core.nextNumber
    }
    // The effect is made outside the lock, and held until the lock is released, because its `deinit` takes the lock.
    let effect = NumberedEffect(number) { [weak self] in self?.end(token, number) }
    let isWanted = { @Sendable [weak self] in self?.isCurrent(token, effect.number) == true }
    let old = core.withLock { core in
      let task = Task { await body { send($0, isWanted) } }
      return core.running.updateValue(Running(number: number, task: task), forKey: token)
    }
    withExtendedLifetime(effect) { old?.task.cancel() }
  }

  private func isCurrent(_ token: EffectToken, _ number: Int) -> Bool {
    core.withLock { $0.running[token]?.number == number }
  }

  private func end(_ token: EffectToken, _ number: Int) {
    _ = core.withLock { core in
      core.running[token]?.number == number ? core.running.removeValue(forKey: token) : nil
    }
  }
}

/// A middleware that answers actions with effects.
///
/// ```swift
/// let search = EffectMiddleware<SearchAction, SearchAction, SearchState>.onAction { action, _, _, catalogue in
///   guard case .search(let text) = action else { return .doNothing }
///   return .run(token: "search") { send in send(.found(await catalogue.titles(matching: text))) }
/// }.inject(catalogue)
/// ```
public final class EffectMiddleware<InputAction: Sendable, OutputAction: Sendable, State: Sendable>:
  Middleware
{
  /// A closure that returns the effect of an action. The arguments are the action, its source, and the state before the
  /// action.
  public typealias OnAction =
    @Sendable (InputAction, ActionSource, _ getState: () -> State) -> Effect<OutputAction>

  private struct Context: Sendable {
    let getState: @Sendable () -> State
    let output: ActionHandler<OutputAction>
  }

  private let onAction: OnAction
  private let context = Mutex<Context?>(nil)
  private let runner = EffectRunner()

  /// Makes a middleware from a handler of actions.
  public init(_ onAction: @escaping OnAction) { self.onAction = onAction }

  /// Makes a template of a middleware from a handler that needs dependencies, which ``EffectTemplate/inject(_:)``
  /// gives.
  public static func onAction<Dependencies: Sendable>(
    _ body:
      @escaping @Sendable (InputAction, ActionSource, _ getState: () -> State, Dependencies) -> Effect<
        OutputAction
      >
  ) -> EffectTemplate<InputAction, OutputAction, State, Dependencies> {
    EffectTemplate(body: body)
  }

  /// Takes the state and the output of the middleware.
  public func receiveContext(
    getState: @escaping @Sendable () -> State,
    output: ActionHandler<OutputAction>
  ) {
    context.withLock { $0 = Context(getState: getState, output: output) }
  }

  /// Asks for the effect of an action, and runs it after the reducer.
  public func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer) {
    guard let context = context.withLock({ $0 }) else { return }
    let effect = onAction(action, source, context.getState)
    afterReducer.add { [runner] in runner.run(effect, from: source, to: context.output) }
  }
}

/// An ``EffectMiddleware`` without its dependencies.
public struct EffectTemplate<
  InputAction: Sendable,
  OutputAction: Sendable,
  State: Sendable,
  Dependencies: Sendable
>: Sendable {
  let body: @Sendable (InputAction, ActionSource, () -> State, Dependencies) -> Effect<OutputAction>

  /// Returns the middleware with its dependencies.
  public func inject(_ dependencies: Dependencies) -> EffectMiddleware<InputAction, OutputAction, State> {
    EffectMiddleware { [body] in body($0, $1, $2, dependencies) }
  }
}
