import Predicates

/// Prints the values of one object after the other, as a table or as a JSON array of objects.
struct QueryOutput {
  private enum Form {
    case table(Table)
    case json(isEmpty: Bool)
  }

  private let titles: [String]
  private var form: Form

  /// - Parameter titles: the columns' key paths, as they were asked for.
  init(_ titles: [String], asJSON: Bool) {
    self.titles = titles
    if asJSON {
      print("[", terminator: "")
      form = .json(isEmpty: true)
    } else {
      form = .table(Table(titles))
    }
  }

  /// - Parameter values: one for each column.
  mutating func add(_ values: [AttributeValue]) {
    switch form {
    case .table(var table):
      table.add(values.map { Table.Cell(ValueText.table($0), isNumeric: ValueText.isNumeric($0)) })
      form = .table(table)
    case .json(let isEmpty):
      let members = zip(titles, values).map { "\(ValueText.quoted($0)): \(ValueText.json($1))" }
      print(isEmpty ? "\n  {" : ",\n  {", members.joined(separator: ", "), "}", separator: "", terminator: "")
      form = .json(isEmpty: false)
    }
  }

  /// Prints what is still waiting, and the end.
  mutating func finish() {
    switch form {
    case .table(var table): table.finish()
    case .json(let isEmpty): print(isEmpty ? "]" : "\n]")
    }
  }
}
