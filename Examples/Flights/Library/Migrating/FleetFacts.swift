import Cambium
import Foundation

/// Facts about a store's flights and planes, in terms that don't depend on the version of its schema.
struct FleetFacts: Equatable, Sendable {
  /// Counts by the airlines' codes and names.
  let flightsByAirline: [[AttributeValue]: Int]
  let flightsByDestination: [[AttributeValue]: Int]
  /// Counts by manufacturer, model, kind of engine, engines and seats.
  let planesByModel: [[AttributeValue]: Int]
  /// Planes by their tail numbers, with 0 for an unknown year.
  let yearsByPlane: [[AttributeValue]: Int]
  /// The sum of all delays at arrival.
  let delayMinutes: AttributeValue

  /// The names that a version of the schema gives to the subjects of the facts.
  struct Names: Sendable {
    let delay: String
    let destination: String
    /// Paths from a plane to the values that tell models apart.
    let model: [String]

    static let version1 = Names(
      delay: "arrDelay",
      destination: "dest.faa",
      model: ["manufacturer", "model", "engine", "engines", "seats"]
    )
    static let version4 = Names(
      delay: "arrivalDelay",
      destination: "destination.faa",
      model: ["model.manufacturer", "model.name", "model.engine", "model.engines", "model.seats"]
    )
  }

  /// Reads the facts. The store is opened for reading only, and no classes are needed.
  init(of path: String, _ names: Names) throws {
    let store = try DynamicStore(at: URL(fileURLWithPath: path))
    flightsByAirline = try store.counts(of: "Flight", by: ["airline.carrier", "airline.name"])
    flightsByDestination = try store.counts(of: "Flight", by: [names.destination])
    planesByModel = try store.counts(of: "Plane", by: names.model)
    yearsByPlane = try store.years()
    var total = DynamicQuery("Flight")
    total.aggregates = [.init(.sum, names.delay)]
    delayMinutes = try store.groups(of: total).first?.values.first ?? .null
  }

  var flightCount: Int { flightsByAirline.values.reduce(0, +) }
  var planeCount: Int { planesByModel.values.reduce(0, +) }
}

extension DynamicStore {
  fileprivate func counts(of entity: String, by paths: [String]) throws -> [[AttributeValue]: Int] {
    var query = DynamicQuery(entity)
    query.groupBy = paths
    query.aggregates = [.init(.count)]
    let pairs = try groups(of: query).map { group in
      (Array(group.values.dropLast()), group.values.last?.count ?? 0)
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  fileprivate func years() throws -> [[AttributeValue]: Int] {
    var query = DynamicQuery("Plane")
    query.select = ["tailnum", "year"]
    let pairs = try rows(of: query).map { ([$0.values[0]], $0.values[1].count) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }
}

extension AttributeValue {
  /// The integer; 0 for anything else.
  fileprivate var count: Int { if case .int(let number) = self { Int(number) } else { 0 } }
}
