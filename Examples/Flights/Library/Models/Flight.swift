import Cambium
import Foundation

/// A flight that left New York, or was to leave: one without a departure time was cancelled.
///
/// Times of day are numbers as a clock shows them, local: 517 is 5:17. Delays and durations are in minutes, distances in
/// miles. The codes of the airline, plane and airports stay beside the relationships, because some of them refer to nothing.
@Model
final class Flight {
  #Index<Flight>(
    [\.month, \.day],
    [\.depTime],
    [\.depDelay],
    [\.arrDelay],
    [\.destCode],
    [\.distance],
    [\.timeHour]
  )

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
  /// Where passengers board. The data set has no gates: the departure board gives them.
  var gate: String?
  /// The hour for which the departure was scheduled, in UTC.
  var timeHour: Date
  @Relationship var airline: Airline?
  @Relationship var plane: Plane?
  @Relationship var origin: Airport?
  @Relationship var dest: Airport?
  /// The weather at the origin in the hour of departure.
  @Relationship var weather: WeatherHour?

  init(_ row: FlightRow) {
    year = row.year
    month = row.month
    day = row.day
    depTime = row.depTime
    schedDepTime = row.schedDepTime
    depDelay = row.depDelay
    arrTime = row.arrTime
    schedArrTime = row.schedArrTime
    arrDelay = row.arrDelay
    carrier = row.carrier
    flight = row.flight
    tailnum = row.tailnum
    originCode = row.originCode
    destCode = row.destCode
    airTime = row.airTime
    distance = row.distance
    hour = row.hour
    minute = row.minute
    timeHour = row.timeHour
  }
}
