import Cambium
import CambiumFlow
import Foundation
import Testing

import class TestSupport.TemporaryFolder

// Quoted in Docs/DataFlow.md
@Model final class Plant {
  var name: String
  var bed: String
  var waterings: Int = 0

  init(_ name: String, in bed: String) {
    self.name = name
    self.bed = bed
  }
}

/// A request for plants.
enum PlantRequest: ObjectRequest {
  case all
  case inBed(String)

  var query: From<Plant> {
    switch self {
    case .all: From<Plant>()
    case .inBed(let bed): From<Plant>().where { $0.bed == bed }
    }
  }
  var order: [OrderBy<Plant>] { [.ascending(\.name)] }
}

extension Plant.Values: PersistableValue {
  typealias Object = Plant
  typealias Request = PlantRequest
}
// End of quotation

// Quoted in Docs/DataFlow.md
/// A plant's label: another kind of value of the same model.
struct PlantLabel: PersistableValue {
  typealias Object = Plant
  typealias Request = PlantRequest

  var objectID: ManagedObjectID?
  var name: String

  init(_ plant: Plant) throws { (objectID, name) = (plant.objectID, plant.name) }

  func insert(into context: ManagedObjectContext) throws -> Plant {
    let plant = Plant(name, in: "nursery")
    context.insert(plant)
    return plant
  }

  func update(_ plant: Plant) throws {
    if plant.name != name { plant.name = name }
  }
}
// End of quotation

// Quoted in Docs/DataFlow.md
typealias Plants = StoreController<Plant.Values>

struct GardenState: Sendable {
  var plants = Plants.State.initial
  var container = ContainerState.initial
  var log: [String] = []
}

enum GardenAction: Sendable {
  case plants(Plants.Action)
  case container(ContainerAction)
  case note(String)

  var plants: Plants.Action? { if case .plants(let action) = self { action } else { nil } }
  var container: ContainerAction? { if case .container(let action) = self { action } else { nil } }
}

func makeGarden(_ container: LazyContainer) -> FlowStore<GardenAction, GardenState> {
  let plants = Plants(container)
  let reducer =
    Plants.makeReducer().lift(action: \GardenAction.plants, state: \GardenState.plants)
    <> LazyContainer.makeReducer().lift(action: \GardenAction.container, state: \GardenState.container)
    <> Reducer { action, state in
      if case .note(let line) = action { state.log.append(line) }
    }
  let middleware =
    plants.makeMiddleware()
    .lift(inputAction: \GardenAction.plants, outputAction: GardenAction.plants, state: \GardenState.plants)
    <> container.makeMiddleware()
    .lift(
      inputAction: \GardenAction.container,
      outputAction: GardenAction.container,
      state: \GardenState.container
    )
  return FlowStore(GardenState(), reducer: reducer, middleware: middleware)
}
// End of quotation

@Suite(.timeLimit(.minutes(60))) struct DataFlowGuideTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("garden"))
  }

  @Test func aListIsShown() async throws {
    let url = url
    // Quoted in Docs/DataFlow.md
    let container = LazyContainer {
      try await PersistentContainer("Garden", models: Plant.self, at: url)
    }
    let plants = StoreController<Plant.Values>(container)
    let store = FlowStore(
      .initial,
      reducer: StoreController<Plant.Values>.makeReducer(),
      middleware: plants.makeMiddleware()
    )
    store.dispatch(.request(.inBed("south")))
    store.dispatch(.save(Plant.Values(name: "Sage", bed: "south")))
    for await state in store.states() {
      if let names = state.request.elements?.map(\.name), !names.isEmpty {
        print(names)
        break
      }
    }
    // End of quotation
    #expect(store.state.request.elements?.map(\.name) == ["Sage"])
  }

  @Test func aWholeProgramIsComposed() async throws {
    let url = url
    let container = LazyContainer {
      try await PersistentContainer("Garden", models: Plant.self, at: url)
    }
    let garden = makeGarden(container)
    garden.dispatch(.plants(.request(.all)))
    garden.dispatch(.plants(.save(Plant.Values(name: "Sage", bed: "south"))))
    garden.dispatch(.note("sown"))
    for await state in garden.states() where state.plants.request.elements?.count == 1 { break }
    #expect(garden.state.log == ["sown"] && garden.state.container == .loaded)
    let label = try PlantLabel(Plant("Mint", in: "north"))
    #expect(label.name == "Mint")
  }

  private enum WeatherAction: Sendable {
    case ask(String)
    case answer(Int)
    case forget
  }

  @Test func effectsAnswerActions() async throws {
    let forecast = { @Sendable (town: String) async -> Int in town.count }
    // Quoted in Docs/DataFlow.md
    let weather = EffectMiddleware<WeatherAction, WeatherAction, Int> { action, _, _ in
      switch action {
      case .ask(let town): .run(token: "weather") { send in send(.answer(await forecast(town))) }
      case .forget: .toCancel("weather")
      case .answer: .doNothing
      }
    }
    // End of quotation
    let reducer = Reducer<WeatherAction, Int> { action, state in
      if case .answer(let degrees) = action { state = degrees }
    }
    let store = FlowStore(0, reducer: reducer, middleware: weather)
    store.dispatch(.forget)
    store.dispatch(.ask("Ulm"))
    for await state in store.states() where state == 3 { break }
    #expect(store.state == 3)
  }
}
