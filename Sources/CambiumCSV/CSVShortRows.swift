/// The treatment of rows of a CSV text with fewer fields than there are columns.
///
/// Many programs leave out empty fields at the end of a row. A row that was cut off looks the same.
public enum CSVShortRows: Sendable, Hashable {
  /// The missing fields are empty. `ImportReport.paddedCount` counts such rows, and `ImportReport.firstPadded` names
  /// the first and its missing columns.
  case padded
  /// Such a row is an error (`ImportError.Code.malformedRecord`), which names the row and its missing columns.
  case refused
}
