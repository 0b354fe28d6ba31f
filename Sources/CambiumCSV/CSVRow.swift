/// A row of a CSV text, with the names of its columns.
public struct CSVRow: Sendable, Hashable {
  /// The names of the columns, as the first row of the text gives them.
  public let columns: [String]
  /// The fields, one for each column. A row that is too short has empty ones at its end.
  public let fields: [String]

  /// The field of a column; nil if there is no such column. Of several columns with one name, the first counts.
  /// O(columns).
  public subscript(column: String) -> String? {
    columns.firstIndex(of: column).map { fields[$0] }
  }
}
