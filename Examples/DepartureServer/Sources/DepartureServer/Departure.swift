import Cambium

/// A departure of an airport.
@Model
final class Departure {
  #Index<Departure>([\.minute])

  /// Minutes since midnight.
  var minute: Int
  var city: String
  var delay: Int

  init(minute: Int, city: String, delay: Int = 0) {
    self.minute = minute
    self.city = city
    self.delay = delay
  }
}
