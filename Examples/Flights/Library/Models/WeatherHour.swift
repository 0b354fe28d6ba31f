import Cambium
import Foundation

/// The measurements of an airport's station in one hour.
@Model
final class WeatherHour {
  #Unique<WeatherHour>([\.originCode, \.timeHour])

  var originCode: String
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  /// Degrees Fahrenheit.
  var temp: Double?
  /// Dew point, in degrees Fahrenheit.
  var dewp: Double?
  /// Relative humidity, in per cent.
  var humid: Double?
  /// Degrees.
  var windDir: Int?
  /// Miles an hour.
  var windSpeed: Double?
  /// Miles an hour.
  var windGust: Double?
  /// Inches.
  var precip: Double
  /// Millibars at sea level.
  var pressure: Double?
  /// Miles.
  var visib: Double
  var timeHour: Date
  @Relationship var origin: Airport?
  @Relationship(deleteRule: .nullify, inverse: \Flight.weather) var flights: ToMany<Flight> = []

  init(_ row: WeatherRow) {
    originCode = row.originCode
    year = row.year
    month = row.month
    day = row.day
    hour = row.hour
    temp = row.temp
    dewp = row.dewp
    humid = row.humid
    windDir = row.windDir
    windSpeed = row.windSpeed
    windGust = row.windGust
    precip = row.precip
    pressure = row.pressure
    visib = row.visib
    timeHour = row.timeHour
  }
}
