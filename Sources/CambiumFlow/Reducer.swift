/// A rule that changes a state as an action says, and does nothing else.
///
/// ```swift
/// let counting = Reducer<Int, Int> { action, state in state += action }
/// ```
public struct Reducer<Action: Sendable, State: Sendable>: Sendable {
  /// The closure that changes the state as an action says.
  public let reduce: @Sendable (_ action: Action, _ state: inout State) -> Void

  /// Makes a reducer of a closure.
  public init(_ reduce: @escaping @Sendable (_ action: Action, _ state: inout State) -> Void) {
    self.reduce = reduce
  }

  /// A reducer that changes nothing.
  public static var identity: Reducer { Reducer { _, _ in } }

  /// Returns a reducer that does what the left one does, and then what the right one does.
  public static func <> (left: Reducer, right: Reducer) -> Reducer {
    Reducer { action, state in
      left.reduce(action, &state)
      right.reduce(action, &state)
    }
  }

  /// Returns a reducer for the actions and the state of a whole program, of which this reducer knows a part.
  ///
  /// - Parameters:
  ///   - action: the part of an action that concerns this reducer; nil for others, with which it does nothing.
  ///   - state: the part of the state.
  public func lift<GlobalAction, GlobalState>(
    action: any KeyPath<GlobalAction, Action?> & Sendable,
    state: any WritableKeyPath<GlobalState, State> & Sendable
  ) -> Reducer<GlobalAction, GlobalState> {
    Reducer<GlobalAction, GlobalState> { globalAction, globalState in
      guard let local = globalAction[keyPath: action] else { return }
      reduce(local, &globalState[keyPath: state])
    }
  }
}

infix operator <> : AdditionPrecedence
