import Cambium
import CambiumFlow

extension EffectMiddleware
where InputAction == JukeboxAction, OutputAction == JukeboxAction, State == JukeboxState {
  /// Returns the effects beside the rules: played tunes are found and counted.
  static func player(_ container: LazyContainer) -> EffectMiddleware {
    EffectMiddleware { action, _, getState in
      switch action {
      case .next:
        getState().queue.first.map { id in
          // A new effect replaces one that is still looking for its tune.
          .run(token: "needle") { send in send(.play(await tune(id, in: container))) }
        } ?? .doNothing
      case .play(let tune?):
        .just(.tunes(.save(tune.played())))
      case .tunes, .container, .show, .enqueue, .play(nil), .say: .doNothing
      }
    }
  }

  private static func tune(_ id: ManagedObjectID, in container: LazyContainer) async -> Tune.Values? {
    try? await container.container().query { context in try context.existingObject(Tune.self, with: id).values
    }
  }
}

extension Tune.Values {
  /// The tune after it was played once more.
  fileprivate func played() -> Tune.Values {
    var tune = self
    tune.plays += 1
    return tune
  }
}
