import Foundation
import Predicates

/// A small model for the tests of the language: no store behind it, key paths named by a table.
enum Cabin: Int, AttributeType, Comparable {
  case economy = 1, business, first
  static func < (left: Cabin, right: Cabin) -> Bool { left.rawValue < right.rawValue }
}

enum Status: String, AttributeType, CaseIterable {
  case planned, departed, cancelled
}

final class Airport: PredicateRoot, ObjectReferencing {
  var faa = ""
  var name = ""
  var altitude = 0
  var isOpen = true
  var city: City?
  let number: ObjectNumber?

  init(number: ObjectNumber?) { self.number = number }

  var objectReference: ObjectReference? { number.map { ObjectReference(entity: "Airport", number: $0) } }

  static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    try KeyPathTable.names(
      of: keyPath,
      [
        (\Airport.faa, "faa"), (\Airport.name, "name"), (\Airport.altitude, "altitude"),
        (\Airport.isOpen, "isOpen"), (\Airport.city, "city"),
      ]
    )
  }
}

/// An airport's ID.
struct AirportID: ObjectReferencing {
  let number: ObjectNumber
  var objectReference: ObjectReference? { ObjectReference(entity: "Airport", number: number) }
}

final class City: PredicateRoot, ObjectReferencing {
  var title = ""
  var objectReference: ObjectReference? { nil }

  static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    try KeyPathTable.names(of: keyPath, [(\City.title, "title")])
  }
}

final class Leg: PredicateRoot {
  var minutes: Int?
  var isShort = false
  var flight: Flight?

  static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    try KeyPathTable.names(
      of: keyPath,
      [(\Leg.minutes, "minutes"), (\Leg.isShort, "isShort"), (\Leg.flight, "flight")]
    )
  }
}

final class Flight: PredicateRoot, ObjectReferencing {
  var month = 0
  var day: Int8 = 0
  var seats: UInt64 = 0
  var depTime: Int?
  var delay: Double?
  var distance = 0.0
  var fare: Float = 0
  var tailnum: String?
  var title = ""
  var departed = Date.distantPast
  var landed: Date?
  var token = UUID()
  var blob: Data?
  var isLate = false
  var isFull: Bool?
  var cabin = Cabin.economy
  var status: Status?
  var origin: Airport?
  var dest: Airport?
  var legs: [Leg] = []
  var notes = "not persistent"

  var objectReference: ObjectReference? {
    ObjectReference(entity: "Flight", number: ObjectNumber(rawValue: 1))
  }

  static func predicatePath(of keyPath: AnyKeyPath) throws(QueryError) -> [String] {
    try KeyPathTable.names(
      of: keyPath,
      [
        (\Flight.month, "month"), (\Flight.day, "day"), (\Flight.seats, "seats"),
        (\Flight.depTime, "depTime"),
        (\Flight.delay, "delay"), (\Flight.distance, "distance"), (\Flight.fare, "fare"),
        (\Flight.tailnum, "tailnum"), (\Flight.title, "title"), (\Flight.departed, "departed"),
        (\Flight.landed, "landed"), (\Flight.token, "token"), (\Flight.blob, "blob"),
        (\Flight.isLate, "isLate"), (\Flight.isFull, "isFull"),
        (\Flight.cabin, "cabin"), (\Flight.status, "status"), (\Flight.origin, "origin"),
        (\Flight.dest, "dest"), (\Flight.legs, "legs"),
        (\Flight.origin?.name, "origin.name"), (\Flight.origin?.faa, "origin.faa"),
        (\Flight.origin?.altitude, "origin.altitude"), (\Flight.dest?.faa, "dest.faa"),
        (\Flight.origin?.isOpen, "origin.isOpen"), (\Flight.origin?.city?.title, "origin.city.title"),
      ]
    )
  }
}

enum KeyPathTable {
  static func names(
    of keyPath: AnyKeyPath,
    _ table: [(AnyKeyPath, String)]
  ) throws(QueryError) -> [String] {
    guard let entry = table.first(where: { $0.0 == keyPath }) else {
      throw QueryError(.keyPath, "\(keyPath) is not a persistent property.")
    }
    return entry.1.split(separator: ".").map(String.init)
  }
}
