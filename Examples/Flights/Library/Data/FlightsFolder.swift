import Foundation

/// A folder with the five files of nycflights13, gzipped or not.
struct FlightsFolder {
  let path: String

  func airlines() throws -> CSVTable<AirlineRow> { try table("airlines") }
  func airports() throws -> CSVTable<AirportRow> { try table("airports") }
  func planes() throws -> CSVTable<PlaneRow> { try table("planes") }
  func weather() throws -> CSVTable<WeatherRow> { try table("weather") }
  func flights() throws -> CSVTable<FlightRow> { try table("flights") }

  /// Bytes of the file of flights, as it lies on disk.
  func flightsByteCount() throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: try file("flights"))
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }

  private func table<Record: CSVRecord>(_ name: String) throws -> CSVTable<Record> {
    try CSVTable(path: file(name))
  }

  private func file(_ name: String) throws -> String {
    let candidates = ["\(path)/\(name).csv.gz", "\(path)/\(name).csv"]
    guard let file = candidates.first(where: FileManager.default.fileExists(atPath:)) else {
      throw DataError(path: path, message: "holds neither \(name).csv.gz nor \(name).csv")
    }
    return file
  }
}
