import Cambium
import Foundation

/// Shows queries of a store of flights, and how the store finds the answers.
@MainActor
struct GuidedTour {
  let container: PersistentContainer
  private let clock = ContinuousClock()
  private var context: ManagedObjectContext { container.viewContext }

  init(container: PersistentContainer) { self.container = container }

  func run() throws {
    try spellings()
    try plans()
    try relationships()
    try counts()
  }

  /// One query as a closure, as key paths and as text.
  private func spellings() throws {
    Terminal.section("2. One query, three spellings, one plan")
    print("Flights to Atlanta that arrived more than two hours late.\n")

    let closure = From<Flight>().where { $0.arrDelay > 120 && $0.dest.faa == "ATL" }
    let keyPaths = From<Flight>().where(\.arrDelay > 120 && \.dest?.faa == "ATL")
    let text = From<Flight>().where(format: "arrDelay > %d AND dest.faa == %@", 120, "ATL")

    print("    .where { $0.arrDelay > 120 && $0.dest.faa == \"ATL\" }")
    print("    .where(\\.arrDelay > 120 && \\.dest?.faa == \"ATL\")")
    print("    .where(format: \"arrDelay > %d AND dest.faa == %@\", 120, \"ATL\")\n")

    let plans = try [closure, keyPaths, text].map { try context.explain($0) }
    let counts = try [closure, keyPaths, text].map { try context.fetch($0).count }
    Terminal.indented("\(plans[0])")
    let isOne = plans.allSatisfy { $0 == plans[0] } && counts.allSatisfy { $0 == counts[0] }
    print(
      "\n\(isOne ? "The three plans are equal" : "THE PLANS DIFFER"), and each finds \(counts[0]) flights."
    )
  }

  /// Shows the plans for other queries.
  private func plans() throws {
    Terminal.section("3. Other questions, and the ways to their answers")
    try show(
      "1 January: the compound index on month and day",
      ".where { $0.month == 1 && $0.day == 1 }",
      From<Flight>().where { $0.month == 1 && $0.day == 1 }
    )
    try show(
      "Houston's two airports: two points of one index",
      ".where([\"IAH\", \"HOU\"] ~= \\.destCode)",
      From<Flight>().where(["IAH", "HOU"] ~= \.destCode)
    )
    try show(
      "Ten hours late, at either end: ranges of two indexes, each flight once",
      ".where { $0.depDelay > 600 || $0.arrDelay > 600 }",
      From<Flight>().where { $0.depDelay > 600 || $0.arrDelay > 600 }
    )
    try show(
      "Cancelled: a missing departure time is a point of the index",
      ".where { $0.depTime == nil }",
      From<Flight>().where { $0.depTime == nil }
    )
    try show(
      "The worst five: the index on arrDelay is in order already",
      ".orderBy(.descending(\\.arrDelay)).limit(5)",
      From<Flight>().orderBy(.descending(\.arrDelay)).limit(5)
    )
    try show(
      "Early birds of United: no index on carrier, so a filter on the bytes of each record",
      ".where { $0.carrier == \"UA\" && $0.schedDepTime < 530 }",
      From<Flight>().where { $0.carrier == "UA" && $0.schedDepTime < 530 }
    )
  }

  private func show(_ title: String, _ spelling: String, _ request: From<Flight>) throws {
    let plan = try context.explain(request)
    let start = clock.now
    let found = try context.fetch(request)
    let time = clock.now - start
    print(title)
    print("    \(spelling)")
    Terminal.indented(Terminal.dim("\(plan)"))
    print("    → \(Terminal.number(found.count)) flights in \(Terminal.duration(time))\n")
  }

  /// From one flight to everything around it.
  private func relationships() throws {
    Terminal.section("4. A walk along the relationships")
    let request = From<Flight>().where { $0.plane != nil && $0.weather != nil }.orderBy(
      .descending(\.arrDelay)
    ).limit(1)
    guard let flight = try context.fetch(request).first else { return print("There is no flight.") }

    print(
      "The latest arrival of all: \(flight.carrier) \(flight.flight), \(flight.arrDelay ?? 0) minutes late.\n"
    )
    line("flight.airline", flight.airline?.name)
    line(
      "flight.origin → dest",
      [flight.origin?.name, flight.dest?.name].compactMap { $0 }.joined(separator: " → ")
    )
    if let plane = flight.plane {
      let built = plane.year.map { " of \($0)" } ?? ""
      line(
        "flight.plane",
        "\(plane.tailnum), \(plane.manufacturer) \(plane.model)\(built), \(plane.seats) seats"
      )
      line("flight.plane.flights", "\(plane.flights.count) flights that month")
    }
    if let weather = flight.weather {
      line(
        "flight.weather",
        "\(weather.temp ?? 0) °F, wind \(Int(weather.windSpeed ?? 0)) mph, visibility \(weather.visib) miles"
      )
      line("flight.weather.flights", "\(weather.flights.count) flights were to leave in that hour")
    }
    if let airline = flight.airline { line("flight.airline.flights", Terminal.number(airline.flights.count)) }
  }

  private func line(_ path: String, _ text: String?) {
    print("    " + path.padding(toLength: 24, withPad: " ", startingAt: 0) + (text ?? "–"))
  }

  /// Shows the counts of a counted index, which reads no record, compared with the cost of reading the records.
  private func counts() throws {
    Terminal.section("5. Counting without reading")
    let late = From<Flight>().where { $0.arrDelay > 0 }
    var start = clock.now
    let counted = try context.count(late)
    let countTime = clock.now - start
    start = clock.now
    let fetched = try context.fetch(late).count { ($0.arrDelay ?? 0) > 0 }
    let fetchTime = clock.now - start
    print(
      "    context.count(.where { $0.arrDelay > 0 })   \(Terminal.number(counted)) in \(Terminal.duration(countTime))"
    )
    print(
      "    fetching and reading all of them            \(Terminal.number(fetched)) in \(Terminal.duration(fetchTime))"
    )
    print(
      "\nEvery page of the index knows how many entries lie below it: a count is two walks down the tree."
    )
  }
}
