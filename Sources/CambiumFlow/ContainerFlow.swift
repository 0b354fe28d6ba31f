import GraphContext
import Synchronization

/// A change in the state of a container that a store watches.
public enum ContainerAction: Sendable {
  /// A request to open the container, before anything needs it.
  case load
  /// A request to open the container again, if it couldn't be opened.
  case retry
  /// The container has another state.
  case changed(ContainerState)
}

extension LazyContainer {
  /// Returns a middleware that dispatches each state of the container, and does what the other actions ask for.
  public nonisolated func makeMiddleware() -> AnyMiddleware<ContainerAction, ContainerAction, ContainerState>
  {
    AnyMiddleware(ContainerMiddleware(container: self))
  }

  /// Returns a reducer that keeps the container's state.
  public static func makeReducer() -> Reducer<ContainerAction, ContainerState> {
    Reducer { action, state in
      if case .changed(let new) = action { state = new }
    }
  }
}

private final class ContainerMiddleware: Middleware {
  private let container: LazyContainer
  private let runner = EffectRunner()

  init(container: LazyContainer) { self.container = container }

  func receiveContext(
    getState: @escaping @Sendable () -> ContainerState,
    output: ActionHandler<ContainerAction>
  ) {
    let following = Effect<ContainerAction>.run(token: "container") { [container] send in
      for await state in container.states() { send(.changed(state)) }
    }
    runner.run(following, from: ActionSource(), to: output)
  }

  func handle(_ action: ContainerAction, from source: ActionSource, afterReducer: inout AfterReducer) {
    // Errors are dropped here: the container's state reports them.
    switch action {
    case .load: afterReducer.add { [container] in Task { try? await container.container() } }
    case .retry: afterReducer.add { [container] in Task { try? await container.retry() } }
    case .changed: break
    }
  }
}
