import ArgumentParser
import Foundation
import GraphContext
import Predicates

/// `cambium history STORE`: shows the transactions in the store's history.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists the transactions of the store's history.",
    discussion: """
      A store has a history only if a program has asked for one (keepHistory). The table has a line for each transaction, with the number of objects that it \
      inserted, updated and deleted; --changes adds a line for each object.

      --output jsonl prints a JSON object for each transaction, with all changes: token, date, author, context and changes, of which each has an id, a kind \
      and, where there are any, properties and tombstone.
      """
  )

  /// The form in which transactions are printed.
  enum Output: String, ExpressibleByArgument, CaseIterable {
    /// Columns, for people.
    case table
    /// A JSON object a line.
    case jsonl
  }

  @OptionGroup var store: StoreArgument

  @Option(help: "Only changes of this entity or class, or of a subclass. Can be given several times.")
  var entity: [String] = []

  @Option(help: "Only transactions of this author. Can be given several times.")
  var author: [String] = []

  @Option(
    help:
      "Only transactions from this date on, in ISO 8601 (2026-03-01 or 2026-03-01T12:00:00Z), or after this token."
  )
  var since: String?

  @Option(help: "Only this many transactions, the last ones.")
  var last: Int?

  @Flag(help: "Prints a line for each changed object.")
  var changes = false

  @Option(help: "How to print: table or jsonl.")
  var output = Output.table

  func validate() throws {
    guard last ?? 0 >= 0 else { throw ValidationError("--last must not be negative") }
  }

  func run() throws {
    let store = try DynamicStore(at: URL(fileURLWithPath: store.path()))
    let query = try query(store.schema)
    switch output {
    case .jsonl: try forEachTransaction(of: store, query) { try print(json: $0) }
    case .table:
      var table = Table(["commit", "date", "author", "context", "inserted", "updated", "deleted"])
      try forEachTransaction(of: store, query) { add($0, to: &table) }
      table.finish()
    }
  }

  /// Calls `body` with the transactions that the query selects, or with the last of them, which are read from the
  /// newest on.
  private func forEachTransaction(
    of store: DynamicStore,
    _ query: HistoryQuery,
    _ body: (HistoryTransaction) throws -> Void
  ) throws {
    guard let last else {
      return try store.forEachTransaction(query) { transaction in
        try body(transaction)
        return true
      }
    }
    var query = query
    (query.newestFirst, query.limit) = (true, last)
    var newest: [HistoryTransaction] = []
    try store.forEachTransaction(query) { transaction in
      newest.append(transaction)
      return true
    }
    for transaction in newest.reversed() { try body(transaction) }
  }

  private func query(_ schema: Schema) throws -> HistoryQuery {
    for name in entity where schema.entitySchema(named: name) == nil {
      throw Failure(.use, "error: the store has no entity \(name)")
    }
    var query = HistoryQuery(
      entities: entity.isEmpty ? nil : Set(entity),
      authors: author.isEmpty ? nil : Set(author)
    )
    guard let since else { return query }
    if let token = HistoryToken(since) {
      query.token = token
    } else if let date = ISO8601Text.date(since) {
      query.startDate = date
    } else {
      throw Failure(.use, "error: \(since) is neither a date in ISO 8601 nor a token")
    }
    return query
  }

  // MARK: Printing

  private func add(_ transaction: HistoryTransaction, to table: inout Table) {
    func count(_ kind: HistoryChange.Kind) -> Int { transaction.changes.count { $0.kind == kind } }
    table.add([
      .number(transaction.token.commit), .init(ValueText.table(.date(transaction.date))),
      .init(transaction.author ?? ""), .init(transaction.contextName ?? ""),
      .number(count(.inserted)), .number(count(.updated)), .number(count(.deleted)),
    ])
    if !changes { return }
    for change in transaction.changes {
      let names = change.properties.joined(separator: ", ")
      let place = "\(change.objectID.entityName) \(change.objectID.number)"
      table.add(["", "  \(change.kind.rawValue)", place, names, "", "", ""].map { .init($0) })
    }
  }

  private func print(json transaction: HistoryTransaction) throws {
    var members = [
      "\"token\":\(ValueText.quoted("\(transaction.token)"))",
      "\"date\":\(ValueText.json(.date(transaction.date)))",
    ]
    if let author = transaction.author { members.append("\"author\":\(ValueText.quoted(author))") }
    if let name = transaction.contextName { members.append("\"context\":\(ValueText.quoted(name))") }
    members.append("\"changes\":[\(transaction.changes.map(Self.json).joined(separator: ","))]")
    StandardOutput.print(json: "{\(members.joined(separator: ","))}")
  }

  private static func json(_ change: HistoryChange) -> String {
    var members = [
      "\"id\":\(ValueText.quoted(change.objectID.uriRepresentation))",
      "\"kind\":\(ValueText.quoted(change.kind.rawValue))",
    ]
    if !change.properties.isEmpty {
      members.append("\"properties\":[\(change.properties.map(ValueText.quoted).joined(separator: ","))]")
    }
    if !change.tombstone.isEmpty {
      let values = change.tombstone.sorted { $0.key < $1.key }
      members.append(
        "\"tombstone\":{\(values.map { "\(ValueText.quoted($0.key)):\(ValueText.json($0.value))" }.joined(separator: ","))}"
      )
    }
    return "{\(members.joined(separator: ","))}"
  }
}
