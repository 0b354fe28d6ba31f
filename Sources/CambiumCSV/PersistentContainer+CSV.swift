import Cambium
import CambiumImport

extension PersistentContainer {
  /// Imports the rows of a CSV file, as one commit unless the options say otherwise.
  ///
  /// - Parameters:
  ///   - url: the file.
  ///   - type: the type of the records, which says what they update.
  ///   - delimiter: the character between two fields.
  ///   - shortRows: the treatment of rows with fewer fields than there are columns. The report counts rows that are
  ///     padded.
  ///   - options: when the import stores objects, and when it imports their relationships.
  /// - Throws: As `importRecords(_:with:options:)`; then an import of one commit has changed nothing.
  @discardableResult
  public func importCSV<Source: ManagedObjectUpdatable & Decodable>(
    at url: URL,
    as type: Source.Type,
    delimiter: Character = ",",
    shortRows: CSVShortRows = .padded,
    options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    try await importRecords(
      .csv(at: url, delimiter: delimiter, shortRows: shortRows),
      with: Source.objectImport,
      options: options
    )
  }

  /// Writes the stored objects that a query describes as CSV, with a row of the columns' names:
  /// `exportRecords(_:as:to:format:progress:)`.
  @discardableResult
  public func exportCSV<Value: ManagedObjectInitialisable & Encodable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    to url: URL,
    columns: [String]? = nil,
    delimiter: Character = ","
  ) async throws -> Int {
    try await exportRecords(
      request,
      as: type,
      to: url,
      format: .csv(columns: columns, delimiter: delimiter)
    )
  }
}
