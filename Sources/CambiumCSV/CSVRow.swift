/// A row of a CSV text, with the names of its columns.
public struct CSVRow: Sendable, Hashable {
  /// The greatest count of columns of a text.
  public static let maximumColumnCount = 65_536

  /// The names of the columns, as the first row of the text gives them.
  public let columns: [String]
  /// The fields up to the last one that isn't empty: a row takes no memory for columns that it has no text for.
  let filledFields: [String]

  init(columns: [String], fields: [String]) {
    self.columns = columns
    let count = fields.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
    filledFields = count == fields.count ? fields : Array(fields.prefix(count))
  }

  /// The fields, one for each column. A row that is too short has empty ones at its end. O(columns).
  public var fields: [String] { filledFields + repeatElement("", count: columns.count - filledFields.count) }

  /// The field of a column; nil if there is no such column. Of several columns with one name, the first counts.
  /// O(columns).
  public subscript(column: String) -> String? { columns.firstIndex(of: column).map(field(at:)) }

  /// Returns the field of the column at a position.
  func field(at position: Int) -> String { position < filledFields.count ? filledFields[position] : "" }
}
