import BenchmarkHarness
import Cambium

/// Ten questions to a year of flights, one for each kind of plan.
enum FlightQueries {
  static let all = conditions + relationships + orders + groups

  private static let conditions = [
    FlightQuery(
      "F1",
      "one carrier's flights of a day, the 20 that came latest",
      From<Flight>().where { $0.month == 12 && $0.day == 23 && $0.carrier == "UA" }
        .orderBy(.descending(\.arrDelay)).limit(20).select(\.flight, \.arrDelay),
      sql: """
        SELECT flight, arrDelay FROM flight WHERE month = 12 AND day = 23 AND carrier = 'UA'
        ORDER BY arrDelay DESC, id DESC LIMIT 20
        """
    ) { row, sum in
      sum.add(row.0)
      sum.add(row.1)
    },
    FlightQuery(
      "F2",
      "how many flights to Los Angeles left more than an hour late",
      countOf: From<Flight>().where { $0.destCode == "LAX" && $0.depDelay > 60 },
      sql: "SELECT count(*) FROM flight WHERE destCode = 'LAX' AND depDelay > 60"
    ),
    FlightQuery(
      "F3",
      "long flights of an evening that left early",
      From<Flight>().where { $0.distance > 2_400 && $0.depTime >= 2_000 && $0.depDelay < -5 }
        .select(\.flight, \.arrDelay),
      sql: """
        SELECT flight, arrDelay FROM flight WHERE distance > 2400 AND depTime >= 2000 AND depDelay < -5 ORDER BY id
        """
    ) { row, sum in
      sum.add(row.0)
      sum.add(row.1)
    },
    FlightQuery(
      "F4",
      "flights to Honolulu, and those more than ten hours late",
      From<Flight>().where { $0.destCode == "HNL" || $0.arrDelay > 600 }.select(\.flight, \.tailnum),
      sql: "SELECT flight, tailnum FROM flight WHERE destCode = 'HNL' OR arrDelay > 600 ORDER BY id"
    ) { row, sum in
      sum.add(row.0)
      sum.add(row.1 ?? "")
    },
  ]

  private static let relationships = [
    FlightQuery(
      "F5",
      "how many flights to Houston were in planes of Boeing",
      countOf: From<Flight>().where { $0.dest.faa == "IAH" && $0.plane.manufacturer == "BOEING" },
      sql: """
        SELECT count(*) FROM flight JOIN airport ON airport.id = destId JOIN plane ON plane.id = planeId
        WHERE faa = 'IAH' AND manufacturer = 'BOEING'
        """
    ),
    FlightQuery(
      "F6",
      "airports where a flight came more than 15 hours late",
      From<Airport>().where { $0.arrivals.any { $0.arrDelay > 900 } }.select(\.faa),
      sql: """
        SELECT faa FROM airport WHERE EXISTS
        (SELECT 1 FROM flight WHERE destId = airport.id AND arrDelay > 900) ORDER BY id
        """
    ) { row, sum in sum.add(row) },
    FlightQuery(
      "F7",
      "planes that flew more than 2,400 miles at least 300 times",
      From<Plane>().where { $0.flights.filter { $0.distance > 2_400 }.count >= 300 }.select(\.tailnum),
      sql: """
        SELECT tailnum FROM plane WHERE
        (SELECT count(*) FROM flight WHERE planeId = plane.id AND distance > 2400) >= 300 ORDER BY id
        """
    ) { row, sum in sum.add(row) },
  ]

  private static let orders = [
    FlightQuery(
      "F8",
      "20 flights in the order of time, after the first 200,000",
      From<Flight>().orderBy(.ascending(\.timeHour)).offset(200_000).limit(20).select(\.flight),
      sql: "SELECT flight FROM flight ORDER BY timeHour, id LIMIT 20 OFFSET 200000"
    ) { row, sum in sum.add(row) },
    FlightQuery(
      "F9",
      "the ten latest flights of one carrier",
      From<Flight>().where { $0.carrier == "HA" }.orderBy(.descending(\.arrDelay)).limit(10)
        .select(\.flight, \.arrDelay),
      sql: """
        SELECT flight, arrDelay FROM flight WHERE carrier = 'HA' ORDER BY arrDelay DESC, id DESC LIMIT 10
        """
    ) { row, sum in
      sum.add(row.0)
      sum.add(row.1)
    },
  ]

  private static let groups = [
    FlightQuery(
      "F10",
      "carriers of more than 10,000 flights: how many, and how late on average",
      From<Flight>().groupBy(\.carrier).aggregate(.count, .average(\.arrDelay))
        .having { $0.count > 10_000 }.orderBy(.ascending(\.carrier)),
      sql: """
        SELECT carrier, count(*), avg(arrDelay) FROM flight GROUP BY carrier HAVING count(*) > 10000 ORDER BY carrier
        """
    ) { row, sum in
      sum.add(row.0)
      sum.add(row.1)
      sum.add(average: row.2 ?? 0)
    }
  ]
}
