/// The source location that dispatched an action. An action that an effect dispatches has the source of the action that
/// started the effect.
public struct ActionSource: Sendable, Hashable {
  /// The file.
  public let file: String
  /// The function.
  public let function: String
  /// The line.
  public let line: UInt
  /// Further information from the program.
  public let info: String?

  /// Makes a source; by default that of the call.
  public init(
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line,
    info: String? = nil
  ) {
    (self.file, self.function, self.line, self.info) = (file, function, line, info)
  }
}

/// An action with its source.
public struct DispatchedAction<Action: Sendable>: Sendable {
  /// The action.
  public let action: Action
  /// The source location that dispatched the action.
  public let source: ActionSource
  /// A closure that the store asks before it handles the action: false if the effect that sent the action was
  /// cancelled or replaced. Nil for an action that is always handled.
  let isWanted: (@Sendable () -> Bool)?

  /// Makes a dispatched action.
  public init(_ action: Action, from source: ActionSource) { self.init(action, from: source, ifStill: nil) }

  init(_ action: Action, from source: ActionSource, ifStill isWanted: (@Sendable () -> Bool)?) {
    (self.action, self.source, self.isWanted) = (action, source, isWanted)
  }

  func map<Other>(_ transform: (Action) -> Other) -> DispatchedAction<Other> {
    DispatchedAction<Other>(transform(action), from: source, ifStill: isWanted)
  }
}

/// A handler that dispatches actions into the queue of a store, from any thread.
public struct ActionHandler<Action: Sendable>: Sendable {
  private let body: @Sendable (DispatchedAction<Action>) -> Void

  /// Makes a handler of a closure.
  public init(_ body: @escaping @Sendable (DispatchedAction<Action>) -> Void) { self.body = body }

  /// Hands over an action. It is handled later, never within this call.
  public func dispatch(_ action: Action, from source: ActionSource) {
    dispatch(DispatchedAction(action, from: source))
  }

  func dispatch(_ action: DispatchedAction<Action>) { body(action) }
}
