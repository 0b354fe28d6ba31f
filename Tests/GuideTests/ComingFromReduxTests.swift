import Cambium
import CambiumFlow
import Foundation
import Testing

@Model final class Chore {
  var title: String
  var isDone: Bool = false

  init(_ title: String) { self.title = title }
}

// Quoted in Docs/ComingFromRedux.md
enum ChoreRequest: ObjectRequest {
  case all, open

  var query: From<Chore> {
    switch self {
    case .all: From<Chore>()
    case .open: From<Chore>().where { !$0.isDone }
    }
  }
  var order: [OrderBy<Chore>] { [.ascending(\.title)] }
}

extension Chore.Values: PersistableValue {
  typealias Object = Chore
  typealias Request = ChoreRequest
}
// End of quotation

// Quoted in Docs/ComingFromRedux.md
typealias Chores = StoreController<Chore.Values>

struct HomeState: Sendable {
  var chores = Chores.State.initial
  var tip: String?
}

enum HomeAction: Sendable {
  case chores(Chores.Action)
  case askForTip
  case tip(String)

  var chores: Chores.Action? { if case .chores(let action) = self { action } else { nil } }
}

extension HomeState {
  /// A selector: what a screen shows of the state.
  var openTitles: [String] { (chores.request.elements ?? []).filter { !$0.isDone }.map(\.title) }
}
// End of quotation

// Quoted in Docs/ComingFromRedux.md
func makeHome(_ container: LazyContainer) -> FlowStore<HomeAction, HomeState> {
  let reducer =
    Chores.makeReducer().lift(action: \HomeAction.chores, state: \HomeState.chores)
    <> Reducer { action, state in
      if case .tip(let text) = action { state.tip = text }
    }
  let storing = Chores(container).makeMiddleware()
    .lift(inputAction: \HomeAction.chores, outputAction: HomeAction.chores, state: \HomeState.chores)
  let tips = EffectMiddleware<HomeAction, HomeAction, HomeState> { action, _, _ in
    switch action {
    case .askForTip: .run(token: "tip") { send in send(.tip(await findTip())) }
    case .chores, .tip: .doNothing
    }
  }
  return FlowStore(HomeState(), reducer: reducer, middleware: storing <> tips)
}
// End of quotation

private func findTip() async -> String { "Begin with the windows." }

@Suite(.timeLimit(.minutes(60))) struct ComingFromReduxTests {
  @Test func theGuideDoesWhatItSays() async throws {
    // Quoted in Docs/ComingFromRedux.md
    let container = LazyContainer { try await PersistentContainer("Home", models: Chore.self, at: .inMemory) }
    let store = makeHome(container)
    store.dispatch(.chores(.request(.open)))
    store.dispatch(.chores(.save(Chore.Values(title: "Sweep", isDone: false))))
    store.dispatch(.askForTip)
    for await state in store.states() where state.openTitles == ["Sweep"] && state.tip != nil {
      print(state.openTitles, state.tip ?? "")
      break
    }
    // End of quotation
    #expect(store.state.openTitles == ["Sweep"])
    try await finish(store)
    try await bulk(container)
    for await state in store.states() where state.openTitles == ["Dust"] { break }
    try await container.container().close()
  }

  private func finish(_ store: FlowStore<HomeAction, HomeState>) async throws {
    // Quoted in Docs/ComingFromRedux.md
    if var chore = store.state.chores.request.elements?.first {
      chore.isDone = true
      store.dispatch(.chores(.save(chore)))  // What comes of it is `state.chores.persist`.
    }
    // End of quotation
    for await state in store.states() where state.openTitles.isEmpty { break }
    #expect(store.state.openTitles.isEmpty)
  }

  private func bulk(_ container: LazyContainer) async throws {
    let home = try await container.container()
    try await home.write { context in context.insert(Chore("Dust")) }
    try await home.batchDelete(From<Chore>().where { $0.isDone })
    #expect(try await home.query { try $0.count(From<Chore>()) } == 1)
  }
}
