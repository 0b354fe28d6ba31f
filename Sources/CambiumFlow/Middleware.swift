/// A participant that sees every action beside the reducer, and may dispatch other actions later.
///
/// A middleware belongs to one store. For stores of other libraries it is a plain value. Hand it the context once, and
/// every action before the reducer runs. After the reducer, run the closures that the middleware has added
/// (``AfterReducer/run()``).
public protocol Middleware<InputAction, OutputAction, State>: Sendable {
  /// The actions that the middleware sees.
  associatedtype InputAction: Sendable
  /// The actions that the middleware dispatches.
  associatedtype OutputAction: Sendable
  /// The state that the middleware reads.
  associatedtype State: Sendable

  /// Takes the state and the output of the middleware, once, before the first action.
  ///
  /// - Parameters:
  ///   - getState: the state at the time of the call, on any thread.
  ///   - output: the handler that receives the middleware's actions.
  func receiveContext(getState: @escaping @Sendable () -> State, output: ActionHandler<OutputAction>)

  /// Sees an action. The state is still the one before it.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - source: the source of the action.
  ///   - afterReducer: receives closures that run when the reducer has made the state after the action.
  func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer)
}

extension Middleware {
  /// Takes nothing.
  public func receiveContext(
    getState: @escaping @Sendable () -> State,
    output: ActionHandler<OutputAction>
  ) {}
}

/// The closures that middlewares run after the reducer.
public struct AfterReducer {
  private var closures: [() -> Void] = []

  /// Makes a list of no closures.
  public init() {}

  /// Adds a closure.
  public mutating func add(_ body: @escaping () -> Void) { closures.append(body) }

  /// Runs the closures, the last first: the outermost middleware, which is the first to see an action, is the last
  /// to see the new state.
  public func run() { closures.reversed().forEach { $0() } }
}

/// A middleware that does nothing.
public struct IdentityMiddleware<InputAction: Sendable, OutputAction: Sendable, State: Sendable>: Middleware {
  /// Makes one.
  public init() {}

  /// Does nothing.
  public func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer) {}
}

/// Any number of middlewares of any types as one middleware, in their order.
public struct AnyMiddleware<InputAction: Sendable, OutputAction: Sendable, State: Sendable>: Middleware {
  /// The middlewares; none of them is composed itself or does nothing.
  let parts: [any Middleware<InputAction, OutputAction, State>]

  /// Hides the type of a middleware.
  public init(_ middleware: some Middleware<InputAction, OutputAction, State>) {
    if let composed = middleware as? AnyMiddleware {
      parts = composed.parts
    } else {
      parts = middleware is IdentityMiddleware<InputAction, OutputAction, State> ? [] : [middleware]
    }
  }

  private init(_ parts: [any Middleware<InputAction, OutputAction, State>]) { self.parts = parts }

  /// A middleware that does nothing.
  public static var identity: AnyMiddleware { AnyMiddleware([]) }

  /// Hands the context to each.
  public func receiveContext(
    getState: @escaping @Sendable () -> State,
    output: ActionHandler<OutputAction>
  ) {
    for part in parts { part.receiveContext(getState: getState, output: output) }
  }

  /// Shows the action to each.
  public func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer) {
    for part in parts { part.handle(action, from: source, afterReducer: &afterReducer) }
  }

  /// Returns both as one middleware, one after the other.
  static func composed(_ left: AnyMiddleware, _ right: AnyMiddleware) -> AnyMiddleware {
    AnyMiddleware(left.parts + right.parts)
  }
}

/// Composes two middlewares: the left one sees an action first, and the new state last.
public func <> <InputAction, OutputAction, State>(
  left: some Middleware<InputAction, OutputAction, State>,
  right: some Middleware<InputAction, OutputAction, State>
) -> AnyMiddleware<InputAction, OutputAction, State> {
  .composed(AnyMiddleware(left), AnyMiddleware(right))
}

extension Middleware {
  /// Returns a middleware for the actions and the state of a whole program, of which this middleware knows a part.
  ///
  /// - Parameters:
  ///   - inputAction: the part of an action that concerns this middleware; nil for others, which it doesn't see.
  ///   - outputAction: makes the program's action of one of this middleware.
  ///   - state: the part of the state.
  public func lift<GlobalInput: Sendable, GlobalOutput: Sendable, GlobalState: Sendable>(
    inputAction: any KeyPath<GlobalInput, InputAction?> & Sendable,
    outputAction: @escaping @Sendable (OutputAction) -> GlobalOutput,
    state: any KeyPath<GlobalState, State> & Sendable
  ) -> AnyMiddleware<GlobalInput, GlobalOutput, GlobalState> {
    AnyMiddleware(
      LiftedMiddleware(middleware: self, inputAction: inputAction, outputAction: outputAction, state: state)
    )
  }
}

private struct LiftedMiddleware<
  Base: Middleware,
  InputAction: Sendable,
  OutputAction: Sendable,
  State: Sendable
>: Middleware {
  let middleware: Base
  let inputAction: any KeyPath<InputAction, Base.InputAction?> & Sendable
  let outputAction: @Sendable (Base.OutputAction) -> OutputAction
  let state: any KeyPath<State, Base.State> & Sendable

  func receiveContext(getState: @escaping @Sendable () -> State, output: ActionHandler<OutputAction>) {
    middleware.receiveContext(
      getState: { [state] in getState()[keyPath: state] },
      output: ActionHandler { [outputAction] in output.dispatch($0.map(outputAction)) }
    )
  }

  func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer) {
    guard let local = action[keyPath: inputAction] else { return }
    middleware.handle(local, from: source, afterReducer: &afterReducer)
  }
}
