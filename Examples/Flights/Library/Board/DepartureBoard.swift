import Cambium
import Foundation

/// The departures of a store as a board shows them: some rows of a live list, in sections by hour.
///
/// The list is by rank: it holds a section for each hour and nothing for a flight, and a change costs the same in the whole data set as in one day of it.
@MainActor
final class DepartureBoard {
  let list: FetchedResults<Flight>
  private let source: ListDataSource<Flight>
  private let target: TerminalListTarget
  /// Differences that the list has reported, and changes in them.
  private(set) var (differenceCount, changeCount) = (0, 0)
  /// Rows that have changed since the board was last drawn.
  private var marked: Set<ManagedObjectID> = []

  /// The position of the first row.
  var first: Int { target.rows.lowerBound }

  /// - Parameter start: the board begins with the flights of this time; nil for the first of all.
  init(_ container: PersistentContainer, rows rowCount: Int, from start: Date?) throws {
    let context = container.viewContext
    let all = From<Flight>().orderBy(\.timeHour)
    list = try FetchedResults(all, sectionedBy: SectionedBy(\.timeHour), in: context)
    let first = try start.map { start in try context.count(all.where { $0.timeHour < start }) } ?? 0
    target = TerminalListTarget(rows: first..<first + rowCount)
    source = ListDataSource(list, target: target)
  }

  /// Calls `body` after each difference.
  func follow(_ body: @escaping @MainActor () -> Void) {
    target.draw = { [unowned self] marked in MainActor.assumeIsolated { self.marked = marked } }
    source.onDidChangeContent = { [unowned self] changes in
      // The view context calls this on the main actor.
      MainActor.assumeIsolated {
        differenceCount += 1
        changeCount += changes.changes.count
        body()
      }
    }
  }

  /// The lines of the board.
  func lines() -> [String] {
    var lines: [String] = []
    for path in target.paths {
      if lines.isEmpty || path.item == 0 {
        let hour = list.sections[path.section]
        lines.append(Terminal.bold("\(hour.name)  ") + Terminal.dim("\(hour.count) flights"))
      }
      if let flight = source.object(at: path) { lines.append(line(flight)) }
    }
    return lines
  }

  private func line(_ flight: Flight) -> String {
    let mark = marked.contains(flight.objectID) ? "›" : " "
    let number = "\(flight.carrier) \(flight.flight)".padding(toLength: 8, withPad: " ", startingAt: 0)
    let place = flight.dest?.name ?? flight.destCode
    let gate = (flight.gate ?? "").padding(toLength: 4, withPad: " ", startingAt: 0)
    return
      "\(mark) \(number) \(flight.originCode) → \(place.prefix(32).padding(toLength: 32, withPad: " ", startingAt: 0)) \(gate) \(delay(of: flight))"
  }

  private func delay(of flight: Flight) -> String {
    guard let minutes = flight.depDelay else { return "cancelled" }
    return minutes > 0 ? "\(minutes) min late" : "on time"
  }

  /// The size of the list, its reports and its cost.
  var status: String {
    let bytes = Terminal.number(list.byteCount)
    return "\(Terminal.number(list.count)) flights in \(Terminal.number(list.sections.count)) hours"
      + " · \(Terminal.number(changeCount)) changes in \(Terminal.number(differenceCount)) differences"
      + " · \(Terminal.number(list.entriesWalked)) entries walked · \(bytes) bytes held"
  }
}
