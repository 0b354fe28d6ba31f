import BenchmarkHarness
import Cambium

/// Ten queries of a year of flights, one for each kind of plan.
enum FlightQueries {
  static let all = [
    latestOfADay, lateToLosAngeles, earlyAtNight, honoluluOrVeryLate, houstonByBoeing, airportsOfVeryLate,
    planesOfLongFlights, aPageFromTheMiddle, latestOfACarrier, largeCarriers,
  ]

  private static var latestOfADay: Question {
    let flights = From<Flight>().where { $0.month == 12 && $0.day == 23 && $0.carrier == "UA" }
      .orderBy(.descending(\.arrDelay)).limit(20).select(\.flight, \.arrDelay)
    return Question(
      "F1",
      "one carrier's flights of a day, the 20 that came latest",
      sql: """
        SELECT flight, arrDelay FROM flight WHERE month = 12 AND day = 23 AND carrier = 'UA'
        ORDER BY arrDelay DESC, id DESC LIMIT 20
        """,
      fetch: { try $0.fetch(flights) },
      explain: { try $0.explain(flights, analyze: true) },
      adding: addNumbers
    )
  }

  private static var lateToLosAngeles: Question {
    Question(
      "F2",
      "how many flights to Los Angeles left more than an hour late",
      sql: "SELECT count(*) FROM flight WHERE destCode = 'LAX' AND depDelay > 60",
      countOf: From<Flight>().where { $0.destCode == "LAX" && $0.depDelay > 60 }
    )
  }

  private static var earlyAtNight: Question {
    let flights = From<Flight>().where { $0.distance > 2_400 && $0.depTime >= 2_000 && $0.depDelay < -5 }
      .select(\.flight, \.arrDelay)
    return Question(
      "F3",
      "long flights of an evening that left early",
      sql: """
        SELECT flight, arrDelay FROM flight WHERE distance > 2400 AND depTime >= 2000 AND depDelay < -5
        ORDER BY id
        """,
      fetch: { try $0.fetch(flights) },
      explain: { try $0.explain(flights, analyze: true) },
      adding: addNumbers
    )
  }

  private static var honoluluOrVeryLate: Question {
    let flights = From<Flight>().where { $0.destCode == "HNL" || $0.arrDelay > 600 }.select(
      \.carrier,
      \.flight
    )
    return Question(
      "F4",
      "flights to Honolulu, and those more than ten hours late",
      sql: "SELECT carrier, flight FROM flight WHERE destCode = 'HNL' OR arrDelay > 600 ORDER BY id",
      fetch: { try $0.fetch(flights) },
      explain: { try $0.explain(flights, analyze: true) },
      adding: { row, sum in
        sum.add(row.0)
        sum.add(row.1)
      }
    )
  }

  private static var houstonByBoeing: Question {
    Question(
      "F5",
      "how many flights to Houston were in planes of Boeing",
      sql: """
        SELECT count(*) FROM flight JOIN airport ON airport.id = destId JOIN plane ON plane.id = planeId
        WHERE faa = 'IAH' AND manufacturer = 'BOEING'
        """,
      countOf: From<Flight>().where { $0.dest.faa == "IAH" && $0.plane.manufacturer == "BOEING" }
    )
  }

  private static var airportsOfVeryLate: Question {
    let airports = From<Airport>().where { $0.arrivals.any { $0.arrDelay > 900 } }.select(\.faa)
    return Question(
      "F6",
      "airports where a flight came more than 15 hours late",
      sql: """
        SELECT faa FROM airport
        WHERE EXISTS (SELECT 1 FROM flight WHERE destId = airport.id AND arrDelay > 900) ORDER BY id
        """,
      fetch: { try $0.fetch(airports) },
      explain: { try $0.explain(airports, analyze: true) },
      adding: { code, sum in sum.add(code) }
    )
  }

  private static var planesOfLongFlights: Question {
    let planes = From<Plane>().where { $0.flights.filter { $0.distance > 2_400 }.count >= 200 }
      .select(\.tailnum)
    return Question(
      "F7",
      "planes that flew more than 2,400 miles at least 200 times",
      sql: """
        SELECT tailnum FROM plane
        WHERE (SELECT count(*) FROM flight WHERE planeId = plane.id AND distance > 2400) >= 200 ORDER BY id
        """,
      fetch: { try $0.fetch(planes) },
      explain: { try $0.explain(planes, analyze: true) },
      adding: { tailnum, sum in sum.add(tailnum) }
    )
  }

  private static var aPageFromTheMiddle: Question {
    let flights = From<Flight>().orderBy(.ascending(\.timeHour)).offset(200_000).limit(20).select(\.flight)
    return Question(
      "F8",
      "20 flights in the order of time, after the first 200,000",
      sql: "SELECT flight FROM flight ORDER BY timeHour, id LIMIT 20 OFFSET 200000",
      fetch: { try $0.fetch(flights) },
      explain: { try $0.explain(flights, analyze: true) },
      adding: { number, sum in sum.add(number) }
    )
  }

  private static var latestOfACarrier: Question {
    let flights = From<Flight>().where { $0.carrier == "HA" }.orderBy(.descending(\.arrDelay)).limit(10)
      .select(\.flight, \.arrDelay)
    return Question(
      "F9",
      "the ten latest flights of one carrier",
      sql: """
        SELECT flight, arrDelay FROM flight WHERE carrier = 'HA' ORDER BY arrDelay DESC, id DESC LIMIT 10
        """,
      fetch: { try $0.fetch(flights) },
      explain: { try $0.explain(flights, analyze: true) },
      adding: addNumbers
    )
  }

  private static var largeCarriers: Question {
    let carriers = From<Flight>().groupBy(\.carrier).aggregate(.count, .average(\.arrDelay))
      .having { $0.count > 10_000 }.orderBy(.ascending(\.carrier))
    return Question(
      "F10",
      "carriers of more than 10,000 flights: how many, and how late on average",
      sql: """
        SELECT carrier, count(*), avg(arrDelay) FROM flight GROUP BY carrier HAVING count(*) > 10000
        ORDER BY carrier
        """,
      fetch: { try $0.fetch(carriers) },
      explain: { try $0.explain(carriers, analyze: true) },
      adding: { row, sum in
        sum.add(row.0)
        sum.add(row.1)
        sum.add(average: row.2 ?? 0)
      }
    )
  }

  private static func addNumbers(_ row: (Int, Int?), to sum: inout Checksum) {
    sum.add(row.0)
    sum.add(row.1)
  }
}
