import Cambium
import CambiumFlow

typealias Tunes = StoreController<Tune.Values>

/// Everything that the screen shows.
struct JukeboxState: Sendable {
  var tunes = Tunes.State.initial
  var container = ContainerState.initial
  /// The list that is shown.
  var request = TuneRequest.all
  /// The tunes that will be played, the next one first.
  var queue: [ManagedObjectID] = []
  var playing: Tune.Values?
  /// Whether the next tune is being found, or counted.
  var isStarting = false
  var message = "help lists the commands."
}

/// The actions of the jukebox.
enum JukeboxAction: Sendable {
  case tunes(Tunes.Action)
  case container(ContainerAction)
  /// Shows another list.
  case show(TuneRequest)
  /// Puts a tune at the end of the queue.
  case enqueue(Tune.Values)
  /// Takes the next tune from the queue.
  case next
  /// Plays the tune that was found in the store; nil if the store no longer has it.
  case play(Tune.Values?)
  case say(String)

  var tunes: Tunes.Action? { if case .tunes(let action) = self { action } else { nil } }
  var container: ContainerAction? { if case .container(let action) = self { action } else { nil } }
}

extension Reducer where Action == JukeboxAction, State == JukeboxState {
  /// The rules of the jukebox, with those of its parts.
  static var jukebox: Reducer {
    Tunes.makeReducer().lift(action: \JukeboxAction.tunes, state: \JukeboxState.tunes)
      <> LazyContainer.makeReducer().lift(action: \JukeboxAction.container, state: \JukeboxState.container)
      <> Reducer { action, state in
        switch action {
        case .tunes(let action):
          if action.savedElement != nil { state.isStarting = false }
        case .container: break
        case .show(let request): state.request = request
        case .enqueue(let tune):
          guard let id = tune.objectID else { return }
          state.queue.append(id)
          state.message = "\(tune.title) is number \(state.queue.count) in the queue."
        case .next:
          if state.queue.isEmpty {
            state.playing = nil
            state.message = "The queue is empty."
          } else {
            state.queue.removeFirst()
            state.isStarting = true
          }
        case .play(let tune):
          state.playing = tune
          state.isStarting = tune != nil
          state.message = tune.map { "Playing \($0.title) by \($0.artist)." } ?? "That tune is gone."
        case .say(let message): state.message = message
        }
      }
  }
}
