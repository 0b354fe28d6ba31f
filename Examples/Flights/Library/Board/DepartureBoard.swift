import Cambium
import Foundation

/// The departures of a store as a board shows them: some rows of a live list, in sections by hour.
///
/// The list is by rank: it holds a section for each hour and nothing for a flight, and a change costs the same in the whole data set as in one day of it.
@MainActor
final class DepartureBoard {
  let list: FetchedResults<Flight>
  private let rowCount: Int
  /// The position of the first row.
  private(set) var first: Int
  /// Differences that the list has told of.
  private(set) var differenceCount = 0
  private(set) var changeCount = 0
  /// Rows of the board that have changed since they were drawn.
  private var marked: Set<ManagedObjectID> = []

  /// - Parameter start: the board begins with the flights of this time; nil for the first of all.
  init(_ container: PersistentContainer, rows rowCount: Int, from start: Date?) throws {
    let context = container.viewContext
    let all = From<Flight>().orderBy(\.timeHour)
    list = try FetchedResults(all, sectionedBy: SectionedBy(\.timeHour), in: context)
    self.rowCount = rowCount
    first = try start.map { start in try context.count(all.where { $0.timeHour < start }) } ?? 0
  }

  /// Calls `body` after each difference that the board shows something of.
  func follow(_ body: @escaping @MainActor () -> Void) -> ContextSubscription {
    list.onChange { [unowned self] changes in
      // The view context tells on the main actor.
      MainActor.assumeIsolated {
        note(changes)
        body()
      }
    }
  }

  private func note(_ changes: ListChanges) {
    differenceCount += 1
    changeCount += changes.changes.count
    marked = Set(changes.changes.filter { visible.contains($0.newPosition ?? -1) }.map(\.objectID))
  }

  private var visible: Range<Int> {
    let start = min(first, list.count)
    return start..<min(start + rowCount, list.count)
  }

  /// The lines of the board.
  func lines() -> [String] {
    var lines: [String] = []
    var section = -1
    for position in visible {
      let path = list.path(at: position)
      if path.section != section {
        section = path.section
        let hour = list.sections[section]
        lines.append(Terminal.bold("\(hour.name)  ") + Terminal.dim("\(hour.count) flights"))
      }
      lines.append(line(list[position]))
    }
    return lines
  }

  private func line(_ flight: Flight) -> String {
    let mark = marked.contains(flight.objectID) ? "›" : " "
    let number = "\(flight.carrier) \(flight.flight)".padding(toLength: 8, withPad: " ", startingAt: 0)
    let place = flight.dest?.name ?? flight.destCode
    return
      "\(mark) \(number) \(flight.originCode) → \(place.prefix(32).padding(toLength: 32, withPad: " ", startingAt: 0)) \(delay(of: flight))"
  }

  private func delay(of flight: Flight) -> String {
    guard let minutes = flight.depDelay else { return "cancelled" }
    return minutes > 0 ? "\(minutes) min late" : "on time"
  }

  /// What the list is, has told and costs.
  var status: String {
    let bytes = Terminal.number(list.byteCount)
    return "\(Terminal.number(list.count)) flights in \(Terminal.number(list.sections.count)) hours"
      + " · \(Terminal.number(changeCount)) changes in \(Terminal.number(differenceCount)) differences"
      + " · \(Terminal.number(list.entriesWalked)) entries walked · \(bytes) bytes held"
  }
}
