import Cambium

/// The notes without their terminal. One writer after the other changes them, queries read beside it, and the view context only shows them.
@MainActor public final class NoteKeeper {
  private let container: PersistentContainer
  /// False after `quit`.
  public private(set) var isRunning = true

  /// Opens the store at a location, or makes it.
  ///
  /// - Parameter location: `.named("notes")` for a file in the program's folder for data.
  public init(_ location: StoreLocation) async throws {
    container = try await PersistentContainer("Notes", models: Note.self, at: location)
    container.viewContext.isReadOnly = true
  }

  /// Closes the store.
  public func close() throws { try container.close() }

  // MARK: Writing

  /// Adds a note.
  func add(_ text: String, to folder: String) async throws {
    try await container.write { $0.insert(Note(text, in: folder)) }
  }

  /// Gives stars to a note; saves nothing if there are too many stars.
  ///
  /// - Parameter id: that of a row.
  func rate(_ id: ManagedObjectID, _ stars: Int16) async throws {
    try await container.write { try $0.existingObject(Note.self, with: id).stars = stars }
  }

  /// Deletes the notes that a filter describes, and returns their number. A trial counts them and saves nothing.
  func tidy(_ filter: NoteFilter, isTrial: Bool) async throws -> Int {
    let request = filter.request
    return try await container.write { context, shouldSave in
      shouldSave = !isTrial
      return try context.deleteAll(request)
    }
  }

  // MARK: Reading

  /// Returns the notes of the view context, which shows all earlier saves.
  func notes(_ filter: NoteFilter) throws -> [Note] {
    try container.waitForViewContext()
    return try container.viewContext.fetch(filter.request)
  }

  /// Returns how many notes each folder has, and the best stars of all. Both queries run at the same time.
  func summary() async throws -> (folders: [(name: String, count: Int)], best: Int16?) {
    async let folders = container.query { context in
      try context.fetch(From<Note>().groupBy(\.folder).aggregate(.count))
    }
    async let best = container.query { try $0.aggregate(.max(\.stars), in: From<Note>()) }
    return try await (folders.map { (name: $0.0, count: $0.1) }, best)
  }

  // MARK: The terminal

  /// The commands.
  public static let help = """
    add FOLDER TEXT · star ROW STARS · list [CONDITION…] · trial CONDITION… · tidy CONDITION… · summary · quit
    Conditions: folder=home,work stars=3...5
    """

  /// Carries one line out, and returns the text to print.
  public func perform(_ line: String) async -> String {
    let words = line.split(separator: " ").map(String.init)
    do { return try await perform(words) } catch let mistake as NoteFilter.Mistake {
      return mistake.message
    } catch let error as ContextError {
      return error.failures.map { $0.message }.joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  private func perform(_ words: [String]) async throws -> String {
    let rest = words.dropFirst()
    switch words.first {
    case "add" where rest.count > 1:
      try await add(rest.dropFirst().joined(separator: " "), to: words[1])
    case "star" where rest.count == 2:
      let all = try notes(NoteFilter([]))
      guard let row = Int(words[1]), let stars = Int16(words[2]), row > 0, row <= all.count else {
        return "There is no such row."
      }
      try await rate(all[row - 1].objectID, stars)
    case "list": return try list(NoteFilter(rest))
    case "trial" where !rest.isEmpty:
      return "\(try await tidy(NoteFilter(rest), isTrial: true)) would go"
    case "tidy" where !rest.isEmpty:
      return "\(try await tidy(NoteFilter(rest), isTrial: false)) are gone"
    case "summary":
      let (folders, best) = try await summary()
      let lines = folders.map { "\($0.name): \($0.count)" }
      return (lines + ["best: \(best.map { "\($0)" } ?? "–")"]).joined(separator: "\n")
    case "quit":
      isRunning = false
      return ""
    default: return Self.help
    }
    return try list(NoteFilter([]))
  }

  private func list(_ filter: NoteFilter) throws -> String {
    try notes(filter).enumerated().map { row, note in
      "\(row + 1) \(note.folder): \(note.text) \(String(repeating: "★", count: Int(note.stars)))"
    }.joined(separator: "\n")
  }
}
