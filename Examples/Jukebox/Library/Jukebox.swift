import Cambium
import CambiumFlow
import Foundation

/// The jukebox without its terminal: lines go in, screens come out.
public final class Jukebox: Sendable {
  let store: FlowStore<JukeboxAction, JukeboxState>
  let container: LazyContainer

  /// Makes a jukebox. Its store is opened by the first command that needs it.
  public init(_ url: URL) {
    let container = LazyContainer { try await PersistentContainer("Jukebox", models: Tune.self, at: url) }
    let tunes = Tunes(container).makeMiddleware()
      .lift(inputAction: \JukeboxAction.tunes, outputAction: JukeboxAction.tunes, state: \JukeboxState.tunes)
    let opening = container.makeMiddleware()
      .lift(
        inputAction: \JukeboxAction.container,
        outputAction: JukeboxAction.container,
        state: \JukeboxState.container
      )
    store = FlowStore(
      JukeboxState(),
      reducer: .jukebox,
      middleware: tunes <> opening <> EffectMiddleware.player(container)
    )
    self.container = container
  }

  /// Closes the store.
  public func close() async throws {
    await store.send(.tunes(.cancelRequest))
    try await container.container().close()
  }

  /// Performs a line, and waits for all of its effects. Returns whether to go on.
  public func perform(_ line: String) async -> Bool {
    do throws(JukeboxCommand.Mistake) {
      let command = try JukeboxCommand(line)
      if command == .quit { return false }
      for action in try actions(for: command) { await store.send(action) }
      await waitForStore()
    } catch {
      await store.send(.say(error.message))
    }
    return true
  }

  private func actions(for command: JukeboxCommand) throws(JukeboxCommand.Mistake) -> [JukeboxAction] {
    switch command {
    case .add(let title, let artist):
      return [
        .tunes(.save(Tune.Values(title: title, artist: artist, plays: 0))), .say("\(title) is in the box."),
      ]
    case .all: return show(.all)
    case .hits: return show(.hits)
    case .by(let artist): return show(.by(artist: artist))
    case .find(let text): return show(.titled(text))
    case .queue(let row): return [.enqueue(try tune(row))]
    case .retitle(let row, let title):
      var tune = try tune(row)
      tune.title = title
      return [.tunes(.save(tune)), .say("It is called \(title) now.")]
    case .remove(let row):
      let tune = try tune(row)
      return [.tunes(.delete(tune)), .say("\(tune.title) is gone.")]
    case .next: return [.next]
    case .help: return [.say(JukeboxCommand.summary)]
    case .quit: return []
    }
  }

  private func show(_ request: TuneRequest) -> [JukeboxAction] {
    [.show(request), .tunes(.request(request)), .say("")]
  }

  private func tune(_ row: Int) throws(JukeboxCommand.Mistake) -> Tune.Values {
    let tunes = store.state.tunes.request.elements ?? []
    guard row > 0, row <= tunes.count else {
      throw JukeboxCommand.Mistake(message: "There is no row \(row).")
    }
    return tunes[row - 1]
  }
}
