import Synchronization

/// The middleware that does what the actions of a controller ask for.
final class PersistenceMiddleware<Controller: PersistenceController>: Middleware {
  typealias InputAction = Controller.Action
  typealias OutputAction = Controller.Action
  typealias State = Controller.State

  private struct Context: Sendable {
    let getState: @Sendable () -> State
    let output: ActionHandler<OutputAction>
  }

  private let controller: Controller
  private let runner = EffectRunner()
  private let context = Mutex<Context?>(nil)
  /// The last request, which begins again where a difference didn't apply.
  private let request = Mutex<Controller.Request?>(nil)
  /// The newest save or deletion, which begins when all before it have ended.
  private let newestChange = Mutex<Task<Void, Never>?>(nil)
  /// The token of the live request: there is one at a time.
  private static var token: EffectToken { "live request" }

  init(controller: Controller) { self.controller = controller }

  func receiveContext(getState: @escaping @Sendable () -> State, output: ActionHandler<OutputAction>) {
    context.withLock { $0 = Context(getState: getState, output: output) }
  }

  func handle(_ action: InputAction, from source: ActionSource, afterReducer: inout AfterReducer) {
    guard let context = context.withLock({ $0 }) else { return }
    let run = { [runner] effect in runner.run(effect, from: source, to: context.output) }
    switch action.kind {
    case .save(let element):
      afterReducer.add { [self] in save(element) { context.output.dispatch($0, from: source) } }
    case .delete(let element):
      afterReducer.add { [self] in delete(element) { context.output.dispatch($0, from: source) } }
    case .request(let request):
      self.request.withLock { $0 = request }
      afterReducer.add { [self] in run(follow(request, context.getState().requestNumber)) }
    case .cancelRequest:
      afterReducer.add { run(.toCancel(Self.token)) }
    case .received(.difference, let number, _) where number >= context.getState().requestNumber:
      afterReducer.add { [self] in
        // The reducer has begun again, because the difference doesn't apply.
        let next = context.getState().requestNumber
        if next > number, let request = request.withLock({ $0 }) { run(follow(request, next)) }
      }
    case .saved, .saveFailed, .deleted, .deleteFailed, .received, .requestFailed: break
    }
  }

  private func save(_ element: Controller.Element, _ send: @escaping Effect<OutputAction>.Send) {
    changeInTurn { [controller] in
      do throws(Controller.Failure) {
        send(OutputAction(.saved(try await controller.save(element))))
      } catch {
        send(OutputAction(.saveFailed(error, element)))
      }
    }
  }

  private func delete(_ element: Controller.Element, _ send: @escaping Effect<OutputAction>.Send) {
    changeInTurn { [controller] in
      do throws(Controller.Failure) {
        try await controller.delete(element)
        send(OutputAction(.deleted))
      } catch {
        send(OutputAction(.deleteFailed(error, element)))
      }
    }
  }

  /// Begins a save or a deletion when those of earlier actions have ended. If two ran at the same time, the last one to
  /// commit would win, not the last one dispatched.
  private func changeInTurn(_ body: @escaping @Sendable () async -> Void) {
    newestChange.withLock { newest in
      newest = Task { [newest] in
        await newest?.value
        await body()
      }
    }
  }

  private func follow(_ request: Controller.Request, _ number: Int) -> Effect<OutputAction> {
    .run(token: Self.token) { [controller] send in
      let places = Places()
      do throws(Controller.Failure) {
        try await controller.follow(request) { result in
          send(OutputAction(.received(result, number: number, place: places.next())))
        }
      } catch {
        send(OutputAction(.requestFailed(error, request, number: number)))
      }
    }
  }
}

/// A counter of the results of a live request.
private final class Places: Sendable {
  private let last = Atomic(0)

  func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
