import Cambium

/// A list of guests with a section for each table. It follows the store, and prints the steps from the old list to the
/// new one.
@MainActor public final class GuestList {
  private let container: PersistentContainer
  private let guests: FetchedResults<Guest>
  private var subscription: ContextSubscription?
  /// The steps since the last command.
  private var steps: [String] = []
  /// False after `quit`.
  public private(set) var isRunning = true

  /// Opens the store at a location, or makes it.
  public init(_ location: StoreLocation) async throws {
    container = try await PersistentContainer("Guests", models: Guest.self, at: location)
    let byTable = From<Guest>().orderBy(\.table, \.name)
    guests = try FetchedResults(byTable, sectionedBy: SectionedBy(\.table), in: container.viewContext)
    subscription = guests.onChange { [unowned self] changes in steps += changes.events.map(line) }
  }

  /// Closes the store.
  public func close() throws { try container.close() }

  // MARK: Changing

  /// Gives guests seats at a table, in one save: the list reports all of them at once.
  func seat(_ names: [String], at table: String) async throws {
    try await container.write { context in
      for name in names { context.insert(Guest(name, at: table)) }
    }
  }

  /// Gives a guest a seat at another table.
  func move(_ id: ManagedObjectID, to table: String) async throws {
    try await container.write { try $0.existingObject(Guest.self, with: id).table = table }
  }

  func remove(_ id: ManagedObjectID) async throws {
    try await container.write { _ = try $0.delete(Guest.self, with: [id]) }
  }

  // MARK: Showing

  /// Returns the text of a step from the old list to the new one, as a list on a screen carries it out.
  private func line(_ event: ListChanges.Event) -> String {
    switch event {
    case .insertSection(let section): "+ table \(section.name) as \(section.section + 1)"
    case .deleteSection(let section): "- table \(section.name)"
    case .insert(let change): "+ \(place(change.newPath)) \(name(change))"
    case .delete(let change): "- \(place(change.oldPath))"
    case .move(let change): "> \(place(change.oldPath)) to \(place(change.newPath)) \(name(change))"
    case .update(let change): "~ \(place(change.newPath)) \(name(change))"
    }
  }

  private func place(_ path: ListPath?) -> String { path.map { "\($0.section + 1).\($0.item + 1)" } ?? "" }

  private func name(_ change: ListChanges.Change) -> String {
    change.newPath.flatMap { guests[safe: $0] }?.name ?? ""
  }

  /// The sections with their guests.
  var lines: [String] {
    guests.sections.flatMap { section in
      ["\(section.index + 1) \(section.name) (\(section.count))"]
        + section.enumerated().map { item, guest in "  \(section.index + 1).\(item + 1) \(guest.name)" }
    }
  }

  // MARK: The terminal

  /// The commands.
  public static let help = """
    seat TABLE NAME… · move PLACE TABLE · leave PLACE · list · quit
    A place is a table's number and a seat's: 2.1
    """

  /// Carries one line out, and returns the steps of the list.
  public func perform(_ line: String) async -> String {
    do { return try await perform(line.split(separator: " ").map(String.init)) } catch let error
      as ContextError
    {
      return error.failures.map { $0.message }.joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  private func perform(_ words: [String]) async throws -> String {
    steps = []
    switch (words.first, words.count) {
    case ("seat", 3...): try await seat(Array(words[2...]), at: words[1])
    case ("move", 3):
      guard let guest = guest(at: words[1]) else { return "There is no such place." }
      try await move(guest.objectID, to: words[2])
    case ("leave", 2):
      guard let guest = guest(at: words[1]) else { return "There is no such place." }
      try await remove(guest.objectID)
    case ("list", 1): return lines.joined(separator: "\n")
    case ("quit", 1):
      isRunning = false
      return ""
    default: return Self.help
    }
    // An app with a run loop needn't call this: its main actor has turns of its own.
    try container.waitForViewContext()
    return steps.joined(separator: "\n")
  }

  private func guest(at place: String) -> Guest? {
    let numbers = place.split(separator: ".").compactMap { Int($0) }
    guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { return nil }
    return guests[safe: ListPath(section: numbers[0] - 1, item: numbers[1] - 1)]
  }
}
