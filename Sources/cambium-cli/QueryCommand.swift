import ArgumentParser
import GraphContext
import Predicates

/// `cambium query STORE ENTITY [PREDICATE]`: finds objects by a predicate.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Finds the objects of an entity that a predicate describes.",
    discussion: """
      The predicate is a format string such as 'arrDelay >= 120 AND dest.faa == "IAH"'. Key paths go through to-one \
      relationships. Without --select, every attribute is shown.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity, such as Flight.")
  var entity: String

  @Argument(help: "What the objects have in common; everything, if it is left out.")
  var predicate: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Sorts by this key path; may be given several times.", valueName: "key[:desc]")
  )
  var sort: [SortArgument] = []

  @Option(name: .long, help: ArgumentHelp("Shows these key paths.", valueName: "key,…"))
  var select: String?

  @Option(help: "Shows at most so many.")
  var limit: Int?

  @Option(help: "Passes over so many first.")
  var offset = 0

  @Flag(help: "Prints only how many there are.")
  var count = false

  @Flag(help: "Prints how they would be found, without finding them.")
  var explain = false

  @Flag(help: "Prints JSON.")
  var json = false

  func validate() throws {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw ValidationError("--limit and --offset must not be negative")
    }
    guard !(count && explain) else { throw ValidationError("--count and --explain exclude each other") }
  }

  func run() throws {
    let store = try DynamicStore(at: self.store.path())
    let query = try query()
    if explain {
      try printPlan(store.explain(query))
    } else if count {
      print(try store.count(query))
    } else {
      try printRows(store, query)
    }
  }

  private func query() throws -> DynamicQuery {
    var query = DynamicQuery(entity)
    if let predicate { query.predicate = try PredicateTree(format: predicate) }
    query.sort = sort.map { DynamicQuery.SortKey($0.keyPath, isAscending: $0.isAscending) }
    query.select = select?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    query.limit = limit
    query.offset = offset
    return query
  }

  private func printRows(_ store: DynamicStore, _ query: DynamicQuery) throws {
    // Without a selection a row begins with the object's number, by which other rows refer to it.
    let showsNumber = query.select.isEmpty
    let titles = try store.columns(of: query)
    var output = QueryOutput((showsNumber ? ["id"] : []) + titles, asJSON: json)
    try store.forEach(query) { row in
      output.add((showsNumber ? [.reference(row.objectID.number)] : []) + row.values)
      return true
    }
    output.finish()
  }

  private func printPlan(_ plan: QueryPlan) throws {
    guard json else { return print(plan) }
    try JSONText.print(plan)
  }
}
