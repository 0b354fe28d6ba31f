import Cambium
import CambiumImport

/// A place where the temperature is measured.
@Model final class Station {
  @Attribute(.unique) var code: String
  @Relationship(deleteRule: .cascade, inverse: \Reading.station) var readings: [Reading] = []

  init(_ code: String) { self.code = code }
}

/// A measurement.
@Model final class Reading {
  @Attribute(.unique) var number: Int
  var celsius: Double = 0
  @Relationship var station: Station?

  init(_ number: Int) { self.number = number }
}

extension Station: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Station, String> { \.code }
}

extension Reading: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Reading, Int> { \.number }
}

/// A line of the file.
struct ReadingRecord: Codable, Sendable {
  var number: Int
  var station: String
  var celsius: Double
}

extension ReadingRecord: ManagedObjectUpdatable {
  typealias Object = Reading
  var uniqueIDValue: Int { number }

  static var updateProperties: PropertiesUpdate? {
    { record, reading in reading.celsius = record.celsius }
  }
  static var updateRelationships: RelationshipsUpdate? {
    { record, reading, context, cache in
      reading.station = try context.fetchOrInsertObject(Station.self, with: record.station, cache: cache)
    }
  }
}
