import Cambium
import Foundation
import TestSupport
import Testing

@testable import FlightsExample

/// The departure board over the sample.
@Suite("The departure board")
struct BoardTests {
  /// Numbers with which the command could not calculate.
  @Test func optionsAreChecked() {
    func check(rows: Int = 20, writers: Int = 2, seconds: Double? = nil) throws {
      var command = BoardCommand()
      (command.rows, command.writers, command.seconds, command.from) = (rows, writers, seconds, nil)
      try command.validate()
    }
    #expect(throws: Never.self) { try check(rows: 10_000, writers: 0, seconds: 0.5) }
    for rows in [Int.max, 0] { #expect(throws: (any Error).self) { try check(rows: rows) } }
    for writers in [Int.max, -1] { #expect(throws: (any Error).self) { try check(writers: writers) } }
    for seconds in [Double.nan, .infinity, 1e30, -1] {
      #expect(throws: (any Error).self) { try check(seconds: seconds) }
    }
  }

  @Test(.timeLimit(.minutes(60))) @MainActor func changesOfOthersShowOnTheBoard() async throws {
    let folder = try TemporaryFolder()
    let container = try await ImportedSample.shared.value.open(at: folder.file("flights.cambium"))
    let start = try Date("2013-01-15T12:00:00Z", strategy: .iso8601)
    let board = try DepartureBoard(container, rows: 12, from: start)
    #expect(board.list.isRanked)
    #expect(board.list.count == 27_004)
    #expect(board.list.byteCount < 64 << 10)
    #expect(board.list[board.first].timeHour >= start)
    #expect(board.list[board.first - 1].timeHour < start)
    let old = board.lines()
    #expect(old.first?.contains("2013-01-15T12:00:00Z") == true)

    let moved = board.list[board.first].objectID
    board.follow {}
    let walked = board.list.entriesWalked
    let control = FlightControl(container: container, positions: 0..<1)
    try await control.change(board.first, by: 100, hours: 0)
    try container.viewContext.refresh()
    #expect(board.lines() != old)
    try await control.change(board.first, by: 0, hours: 1)
    try container.viewContext.refresh()
    #expect(board.differenceCount == 2)
    #expect(board.list.entriesWalked - walked < 200)
    #expect(board.list[board.first].objectID != moved)
    let flight: Flight = try container.viewContext.object(with: moved)
    #expect(
      board.list.path(of: flight).map { board.list.sections[$0.section].name } == "2013-01-15T13:00:00Z"
    )
    #expect(board.status.contains("2 changes in 2 differences"))
    try await control.change(board.first, by: 0, hours: 0, gate: "B17")
    try container.viewContext.refresh()
    #expect(board.lines()[1].contains(" B17 "))
    try await container.close()
  }
}
