import Cambium
import CambiumFlow

extension Jukebox {
  /// Returns the screen: the list, the tune that is played, the next tunes, the message.
  public func screen() -> String { store.state.screen }

  /// Returns once the screen shows the stored tunes, so that a script's output doesn't depend on how fast the script is
  /// read.
  func waitForStore() async {
    for await state in store.states() {
      if await isUpToDate(state) { return }
    }
  }

  /// Returns whether no change is under way, and the list is that of the store.
  private func isUpToDate(_ state: JukeboxState) async -> Bool {
    if state.failure != nil { return true }
    if case .initial = state.tunes.request, !state.isChanging { return true }
    guard case .received(let elements) = state.tunes.request, !state.isChanging else { return false }
    let request = state.request
    let stored = try? await container.container().query { context in
      try context.fetch(request.query.orderBy(request.order)).map(\.values)
    }
    return stored == elements
  }
}

extension JukeboxState {
  /// Whether a save, a deletion or the next tune is under way.
  fileprivate var isChanging: Bool {
    if case .processing = tunes.persist { return true }
    if case .processing = tunes.delete { return true }
    return isStarting
  }

  fileprivate var failure: FlowError? {
    if case .failed(let error, _) = tunes.request { return error }
    if case .failed(let error, _) = tunes.persist { return error }
    if case .failed(let error, _) = tunes.delete { return error }
    return nil
  }

  /// The lines of the screen.
  var screen: String {
    var lines = ["\(request.title)"]
    for (number, tune) in (tunes.request.elements ?? []).enumerated() {
      lines.append("\(number + 1) \(tune.artist): \(tune.title)\(tune.plays > 0 ? " ×\(tune.plays)" : "")")
    }
    lines.append("♪ \(playing.map { "\($0.title)" } ?? "–") · \(queue.count) waiting")
    if let failure {
      lines.append("It didn't work: \(failure)")
    } else if !message.isEmpty {
      lines.append(message)
    }
    return lines.joined(separator: "\n")
  }
}
