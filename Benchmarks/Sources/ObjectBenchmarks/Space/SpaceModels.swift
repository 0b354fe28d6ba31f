import Cambium
import Foundation

/// The objects for the measurement of space: a unique code, a compound index, an index, a to-one relationship with its
/// inverse.
@Model
final class Sensor {
  #Unique<Sensor>([\.code])
  #Index<Sensor>([\.kind, \.rank], [\.reading])

  var code: String
  var kind: Int
  var rank: Int
  var reading: Double
  @Relationship(inverse: \Site.sensors) var site: Site?

  init(_ data: SensorData, site: Site?) {
    code = data.code
    kind = data.kind
    rank = data.rank
    reading = data.reading
    self.site = site
  }
}

@Model
final class Site {
  var name: String
  @Relationship(deleteRule: .nullify) var sensors: ToMany<Sensor> = []

  init(name: String) { self.name = name }
}

/// The values of one sensor, the same for every peer.
struct SensorData {
  static let siteCount = 1_000

  var code: String
  var kind: Int
  var rank: Int
  var reading: Double
  /// From 0.
  var site: Int

  init(number: Int) {
    var word = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {
      word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return word ^ (word >> 29)
    }
    let digits = String(next() >> 4, radix: 36)
    code = "S-\(digits)-\(number)"
    kind = Int(next() >> 33) % 100
    rank = Int(next() >> 33) % 10_000
    reading = Double(next() >> 11) / Double(1 << 53)
    site = Int(next() >> 33) % Self.siteCount
  }
}
