import Cambium

/// Takes aircraft models out of planes: one for each combination of the values that move.
enum AircraftSplit {
  static func split(_ batch: MigrationBatch) throws {
    var models: [Aircraft: ManagedRecord] = [:]
    for plane in batch.objects {
      let aircraft = try Aircraft(plane)
      let model = try models[aircraft] ?? aircraft.model(in: batch.new)
      models[aircraft] = model
      try batch.successor(of: plane)?.setObject("model", to: model)
    }
  }
}

/// The values of a plane that are those of its model.
private struct Aircraft: Hashable {
  var manufacturer: String
  var name: String
  var engine: String
  var engines: Int
  var seats: Int

  /// - Parameter plane: a record of version 3, in which all five are required.
  init(_ plane: ManagedRecord) throws {
    manufacturer = try plane.value("manufacturer") ?? ""
    name = try plane.value("model") ?? ""
    engine = try plane.value("engine") ?? ""
    engines = try plane.value("engines") ?? 0
    seats = try plane.value("seats") ?? 0
  }

  /// Returns the model with these values, and makes it if there is none. An earlier batch may have made it.
  func model(in context: ManagedObjectContext) throws -> ManagedRecord {
    try context.findOrInsert(
      entity: "AircraftModel",
      with: [
        "manufacturer": .string(manufacturer), "name": .string(name), "engine": .string(engine),
        "engines": .int(Int64(engines)), "seats": .int(Int64(seats)),
      ]
    )
  }
}
