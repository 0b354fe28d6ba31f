import Predicates

/// Prints the values of one object after the other, as a table or as a JSON array of objects.
struct QueryOutput {
  struct Column {
    /// The key path as it was asked for.
    var title: String
    var kind: AttributeKind
  }

  private enum Form {
    case table(Table)
    case json(isEmpty: Bool)
  }

  private let columns: [Column]
  private var form: Form

  init(_ columns: [Column], asJSON: Bool) {
    self.columns = columns
    if asJSON {
      print("[", terminator: "")
      form = .json(isEmpty: true)
    } else {
      form = .table(Table(columns.map { Table.Column(title: $0.title, isNumeric: $0.kind.isNumeric) }))
    }
  }

  /// - Parameter values: one for each column.
  mutating func add(_ values: [AttributeValue]) {
    switch form {
    case .table(var table):
      table.add(values.map(ValueText.table))
      form = .table(table)
    case .json(let isEmpty):
      let members = zip(columns, values).map { "\(ValueText.quoted($0.title)): \(ValueText.json($1))" }
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
