import ArgumentParser
import Cambium
import Foundation

struct BoardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "board",
    abstract: "Shows the departures of a store, in sections by hour; with --live while others change them."
  )

  @Option(help: "The store; `flights import` makes one.")
  var store = ".build/demo/flights.cambium"

  @Flag(help: "Follows the store, and changes flights beside it.")
  var live = false

  @Option(help: "How many flights the board shows.")
  var rows = 20

  @Option(help: "The hour that the board begins with, as 2013-01-15T12:00:00Z.")
  var from: String?

  @Option(help: "How many tasks change flights.")
  var writers = 2

  @Option(help: "Ends after so many seconds; without it, with Control-C.")
  var seconds: Double?

  func validate() throws {
    guard 1...10_000 ~= rows else { throw ValidationError("A board has from 1 to 10,000 rows.") }
    guard 0...1_000 ~= writers else { throw ValidationError("There are from 0 to 1,000 writers.") }
    if let seconds, !(0...1e9 ~= seconds) { throw ValidationError("--seconds is from 0 to 1,000,000,000.") }
    if let from, Self.date(from) == nil {
      throw ValidationError("“\(from)” is no time as 2013-01-15T12:00:00Z.")
    }
  }

  private static func date(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }

  func run() async throws {
    guard FileManager.default.fileExists(atPath: store) else {
      throw ValidationError("There is no store at \(store): `flights import` makes one.")
    }
    let container = try await PersistentContainer.flights(at: store)
    try await show(container)
    try await container.close()
  }

  @MainActor
  private func show(_ container: PersistentContainer) async throws {
    let board = try DepartureBoard(container, rows: rows, from: from.flatMap(Self.date))
    Screen.draw(board.lines(), board.status)
    guard live, !board.list.isEmpty else { return }
    board.follow { Screen.draw(board.lines(), board.status) }
    let end = min(board.first + 4 * rows, board.list.count)
    let control = FlightControl(container: container, positions: min(board.first, end - 1)..<end)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<writers { group.addTask { try await control.run(pause: .milliseconds(200)) } }
      if let seconds { try await Task.sleep(for: .seconds(seconds)) } else { try await group.waitForAll() }
      group.cancelAll()
    }
  }
}

/// Draws a board over the one before on a terminal, and one after the other elsewhere.
private enum Screen {
  static func draw(_ lines: [String], _ status: String) {
    if isatty(STDOUT_FILENO) == 1 { print("\u{1B}[H\u{1B}[2J", terminator: "") }
    for line in lines { print(line) }
    print("\n" + Terminal.dim(status))
    fflush(nil)
  }
}
