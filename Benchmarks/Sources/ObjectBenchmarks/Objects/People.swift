import BenchmarkHarness
import Foundation

/// The objects of the object workloads, as plain values: persons and the cities they live in.
struct People {
  struct Person {
    var email: String
    var name: String
    var age: Int
    var score: Double
    /// Whole seconds, so that a peer which stores dates as text with milliseconds loses nothing.
    var created: Date
    /// 80 characters.
    var bio: String
    /// The number of a city, counted from 1.
    var city: Int
  }

  /// Of one length, so that their order is that of their numbers.
  let cities: [String]
  let persons: [Person]
  /// The ages of all persons.
  static let allAges = 18...90
  /// Numbers of persons in a random order.
  let order: [Int]

  init(persons count: Int, cities cityCount: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    cities = (1...cityCount).map(Self.cityName)
    persons = (0..<count).map { number in
      Person(
        email: "person\(number)@\(Self.word(8, &random)).example",
        name: "\(Self.word(6, &random)) \(Self.word(9, &random))",
        age: Int.random(in: Self.allAges, using: &random),
        score: Double.random(in: 0..<1, using: &random),
        created: Date(
          timeIntervalSince1970: Double(Int.random(in: 1_000_000_000..<1_700_000_000, using: &random))
        ),
        bio: Self.word(80, &random),
        city: Int.random(in: 1...cityCount, using: &random)
      )
    }
    order = Array(0..<count).shuffled(using: &random)
  }

  private static func cityName(_ number: Int) -> String {
    let digits = String(number)
    return "City " + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  private static func word(_ length: Int, _ random: inout SeededGenerator) -> String {
    var letters: [UInt8] = []
    letters.reserveCapacity(length + 8)
    while letters.count < length {
      var bits = random.next()
      for _ in 0..<8 {
        letters.append(UInt8(ascii: "a") + UInt8(bits & 0xFF) % 26)
        bits >>= 8
      }
    }
    return String(decoding: letters.prefix(length), as: UTF8.self)
  }
}

extension Checksum {
  /// Everything of one person; of the city its number.
  mutating func add(
    email: String,
    name: String,
    age: Int,
    score: Double,
    created: Date,
    bio: String,
    city: Int
  ) {
    add(email)
    add(name)
    add(age)
    add(score)
    add(created.timeIntervalSinceReferenceDate)
    add(bio)
    add(city)
  }

  /// One city of O11. The average counts to a millionth, since peers add up in different ways.
  mutating func add(city: Int, averageScore: Double, persons: Int) {
    add(city)
    add((averageScore * 1e6).rounded())
    add(persons)
  }
}
