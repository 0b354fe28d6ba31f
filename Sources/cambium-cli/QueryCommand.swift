import ArgumentParser
import Foundation
import GraphContext
import Predicates

/// `cambium query STORE ENTITY [PREDICATE]`: finds objects by a predicate, or groups of them.
struct QueryCommand: ParsableCommand {
  enum Explanation: String, ExpressibleByArgument, CaseIterable {
    case plan, analyze

    /// Returns false if the argument is this option with an unknown value.
    static func isKnown(_ argument: String) -> Bool {
      let option = "--explain="
      return !argument.hasPrefix(option)
        || Explanation(rawValue: String(argument.dropFirst(option.count))) != nil
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Finds the objects of an entity that a predicate describes.",
    discussion: """
      The predicate is a format string such as 'arrDelay >= 120 AND dest.faa == "IAH"'. Key paths go through to-one \
      relationships. Without --select, every attribute is shown that isn't stored externally. With --group-by or --aggregate, rows are groups, and --sort, \
      --limit and --offset apply to the groups.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity, such as Flight.")
  var entity: String

  @OptionGroup var source: PredicateSource

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Sorts by this key path, or by position(key) in an ordered relationship; may be given several times.",
      valueName: "key[:desc]"
    )
  )
  var sort: [SortArgument] = []

  @Option(name: .long, help: ArgumentHelp("Shows these key paths.", valueName: "key,…"))
  var select: String?

  @Flag(help: "Shows equal rows once.")
  var distinct = false

  @Option(
    name: .long,
    help: ArgumentHelp("Makes a group of the objects with the same values.", valueName: "key,…")
  )
  var groupBy: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Computes these of each group: count, sum, avg, min, max or median; may be given several times.",
      valueName: "avg(key) as name,…"
    )
  )
  var aggregate: [String] = []

  @Option(help: ArgumentHelp("Shows only groups whose columns meet this condition.", valueName: "predicate"))
  var having: String?

  @Option(help: "Shows at most this many rows.")
  var limit: Int?

  @Option(help: "Skips this many rows first.")
  var offset = 0

  @Flag(help: "Prints only the number of rows.")
  var count = false

  @Option(
    defaultAsFlag: Explanation.plan,
    help:
      "Prints the plan of the query without running it; with =analyze runs it, and says what that took."
  )
  var explain: Explanation?

  @Option(help: "Prints a table, csv, json or jsonl.")
  var output: OutputForm?

  @Flag(help: "Prints JSON, as --output json does.")
  var json = false

  func validate() throws {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw ValidationError("--limit and --offset must not be negative")
    }
    guard !(count && explain != nil) else {
      throw ValidationError("--count and --explain exclude each other")
    }
    guard having == nil || groupBy != nil || !aggregate.isEmpty else {
      throw ValidationError("--having selects groups: it needs --group-by or --aggregate")
    }
    // The parser treats an unknown value as a missing one.
    guard CommandLine.arguments.allSatisfy(Explanation.isKnown) else {
      throw ValidationError("--explain takes =plan or =analyze")
    }
    guard !json || output == nil else { throw ValidationError("--json and --output exclude each other") }
  }

  func run() throws {
    let store = try DynamicStore(at: URL(fileURLWithPath: self.store.path()))
    let query = try query()
    if let explain {
      try printPlan(store.explain(query, analyze: explain == .analyze))
    } else if count {
      StandardOutput.print("\(try store.count(query))")
    } else if query.isGrouped {
      try printGroups(store, query)
    } else {
      try printRows(store, query)
    }
  }

  private var form: OutputForm { json ? .json : output ?? .table }

  private func query() throws -> DynamicQuery {
    var query = DynamicQuery(entity, where: try source.tree())
    query.sort = sort.map { DynamicQuery.SortKey($0.keyPath, ascending: $0.isAscending) }
    query.select = Self.list(select)
    query.isDistinct = distinct
    query.groupBy = Self.list(groupBy)
    query.aggregates = try aggregate.flatMap(Self.list).map { try DynamicQuery.Aggregate($0) }
    if let having { query.having = try PredicateTree(format: having) }
    query.limit = limit
    query.offset = offset
    return query
  }

  /// Returns the parts between commas, without surrounding blanks.
  private static func list(_ text: String?) -> [String] {
    text?.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) } ?? []
  }

  private func printRows(_ store: DynamicStore, _ query: DynamicQuery) throws {
    // Without a selection a row begins with the object's number, by which other rows refer to it.
    let showsNumber = query.select.isEmpty && !query.isDistinct
    let titles = try store.columns(of: query)
    // The entity may have an attribute of that name.
    let number = titles.contains("id") ? "objectID" : "id"
    var output = QueryOutput((showsNumber ? [number] : []) + titles, as: form)
    try store.forEach(query) { row in
      output.add((showsNumber ? [.reference(row.objectID.number)] : []) + row.values)
      return true
    }
    output.finish()
  }

  private func printGroups(_ store: DynamicStore, _ query: DynamicQuery) throws {
    var output = QueryOutput(try store.columns(of: query), as: form)
    for group in try store.groups(of: query) { output.add(group.values) }
    output.finish()
  }

  private func printPlan(_ plan: QueryPlan) throws {
    guard form == .json else { return StandardOutput.print(lines: plan.description) }
    try JSONText.print(plan)
  }
}
