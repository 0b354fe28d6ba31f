import Foundation

// One type for each file, with the file's columns in camel case. `dest` and `origin` are the names of relationships, so
// the codes are `destCode` and `originCode`.

struct AirlineRow {
  var carrier: String
  var name: String
}

extension AirlineRow: CSVRecord {
  static let columns = ["carrier", "name"]

  init(_ fields: inout CSVFields) throws {
    carrier = try fields.string()
    name = try fields.string()
  }
}

struct AirportRow {
  var faa: String
  var name: String
  var lat: Double
  var lon: Double
  var alt: Int
  var tz: Int
  var dst: String
  var tzone: String?
}

extension AirportRow: CSVRecord {
  static let columns = ["faa", "name", "lat", "lon", "alt", "tz", "dst", "tzone"]

  init(_ fields: inout CSVFields) throws {
    faa = try fields.string()
    name = try fields.string()
    lat = try fields.double()
    lon = try fields.double()
    alt = try fields.int()
    tz = try fields.int()
    dst = try fields.string()
    tzone = try fields.optionalString()
  }
}

struct PlaneRow {
  var tailnum: String
  var year: Int?
  var type: String
  var manufacturer: String
  var model: String
  var engines: Int
  var seats: Int
  var speed: Int?
  var engine: String
}

extension PlaneRow: CSVRecord {
  static let columns = [
    "tailnum", "year", "type", "manufacturer", "model", "engines", "seats", "speed", "engine",
  ]

  init(_ fields: inout CSVFields) throws {
    tailnum = try fields.string()
    year = try fields.optionalInt()
    type = try fields.string()
    manufacturer = try fields.string()
    model = try fields.string()
    engines = try fields.int()
    seats = try fields.int()
    speed = try fields.optionalInt()
    engine = try fields.string()
  }
}

struct WeatherRow {
  var originCode: String
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var temp: Double?
  var dewp: Double?
  var humid: Double?
  var windDir: Int?
  var windSpeed: Double?
  var windGust: Double?
  var precip: Double
  var pressure: Double?
  var visib: Double
  var timeHour: Date
}

extension WeatherRow: CSVRecord {
  static let columns = [
    "origin", "year", "month", "day", "hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust",
    "precip", "pressure", "visib", "time_hour",
  ]

  init(_ fields: inout CSVFields) throws {
    originCode = try fields.string()
    year = try fields.int()
    month = try fields.int()
    day = try fields.int()
    hour = try fields.int()
    temp = try fields.optionalDouble()
    dewp = try fields.optionalDouble()
    humid = try fields.optionalDouble()
    windDir = try fields.optionalInt()
    windSpeed = try fields.optionalDouble()
    windGust = try fields.optionalDouble()
    precip = try fields.double()
    pressure = try fields.optionalDouble()
    visib = try fields.double()
    timeHour = try fields.date()
  }
}

struct FlightRow {
  var year: Int
  var month: Int
  var day: Int
  var depTime: Int?
  var schedDepTime: Int
  var depDelay: Int?
  var arrTime: Int?
  var schedArrTime: Int
  var arrDelay: Int?
  var carrier: String
  var flight: Int
  var tailnum: String?
  var originCode: String
  var destCode: String
  var airTime: Int?
  var distance: Int
  var hour: Int
  var minute: Int
  var timeHour: Date
}

extension FlightRow: CSVRecord {
  static let columns = [
    "year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time", "sched_arr_time",
    "arr_delay",
    "carrier", "flight", "tailnum", "origin", "dest", "air_time", "distance", "hour", "minute", "time_hour",
  ]

  init(_ fields: inout CSVFields) throws {
    year = try fields.int()
    month = try fields.int()
    day = try fields.int()
    depTime = try fields.optionalInt()
    schedDepTime = try fields.int()
    depDelay = try fields.optionalInt()
    arrTime = try fields.optionalInt()
    schedArrTime = try fields.int()
    arrDelay = try fields.optionalInt()
    carrier = try fields.string()
    flight = try fields.int()
    tailnum = try fields.optionalString()
    originCode = try fields.string()
    destCode = try fields.string()
    airTime = try fields.optionalInt()
    distance = try fields.int()
    hour = try fields.int()
    minute = try fields.int()
    timeHour = try fields.date()
  }
}

/// Finds the hour of weather that belongs to a flight.
struct WeatherKey: Hashable {
  var originCode: String
  var timeHour: Date
}
