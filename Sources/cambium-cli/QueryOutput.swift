import Foundation
import Predicates

/// Prints the values of one row after the other.
struct QueryOutput {
  private enum State {
    case table(Table)
    case csv
    case json(isEmpty: Bool)
    case jsonLines
  }

  private let titles: [String]
  private var state: State

  /// - Parameter titles: the columns' names, as they were asked for.
  init(_ titles: [String], as form: OutputForm) {
    self.titles = titles
    switch form {
    case .table: state = .table(Table(titles))
    case .csv:
      StandardOutput.print(csv: titles.map(CSVText.field).joined(separator: ","))
      state = .csv
    case .json:
      StandardOutput.print(json: "[", terminator: "")
      state = .json(isEmpty: true)
    case .jsonl: state = .jsonLines
    }
  }

  /// - Parameter values: one for each column.
  mutating func add(_ values: [AttributeValue]) {
    switch state {
    case .table(var table):
      table.add(values.map { Table.Cell(ValueText.table($0), isNumeric: ValueText.isNumeric($0)) })
      state = .table(table)
    case .csv: StandardOutput.print(csv: values.map(CSVText.field).joined(separator: ","))
    case .json(let isEmpty):
      StandardOutput.print(json: (isEmpty ? "\n  " : ",\n  ") + json(values), terminator: "")
      state = .json(isEmpty: false)
    case .jsonLines: StandardOutput.print(json: json(values))
    }
  }

  private func json(_ values: [AttributeValue]) -> String {
    "{" + zip(titles, values).map { "\(ValueText.quoted($0)): \(ValueText.json($1))" }.joined(separator: ", ")
      + "}"
  }

  /// Prints the rows that are still waiting, and the end.
  mutating func finish() {
    switch state {
    case .table(var table): table.finish()
    case .json(let isEmpty): StandardOutput.print(json: isEmpty ? "]" : "\n]")
    case .csv, .jsonLines: break
    }
  }
}

/// Fields of comma-separated values (RFC 4180).
enum CSVText {
  static func field(_ value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text.isEmpty ? "\"\"" : field(text)
    case .data(let data): data.base64EncodedString()
    case .reference(let number): number.description
    default: field(ValueText.table(value))
    }
  }

  static func field(_ text: String) -> String {
    let mustBeQuoted = text.unicodeScalars.contains { ["\"", ",", "\n", "\r"].contains($0) }
    if !mustBeQuoted { return text }
    // A quote and the combining mark behind it are another character than a quote.
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    return "\"\(String(quoted))\""
  }
}
