import PageStore

/// The schema of an open store, and the state of a change of it, before a container opens the store: for tests that
/// crash the change.
@_spi(Testing)
public struct SchemaChangeState: Sendable {
  /// The schema that the store has.
  public let schema: Schema
  /// The number of rows that an unfinished change has done, before it switches to its new schema; nil if no such
  /// change is under way.
  public let completedRowCount: Int?
  /// True if a change that has switched, or was given up, has left trees to remove.
  public let isCleaningUp: Bool
  /// The problems that verifying the store by its own schema finds.
  public let problems: [IntegrityProblem]

  /// Reads and verifies the store. O(store).
  ///
  /// - Throws: `corrupt` for a schema or a change with invalid contents; the errors of a read.
  public init(_ store: Store) throws(ContextError) {
    do { try self.init(reading: store) } catch { throw ContextError(any: error) }
  }

  private init(reading store: Store) throws {
    let snapshot = try store.snapshot()
    let change = try SchemaTree.migration(in: snapshot)
    schema = try (SchemaTree.schema(in: snapshot) ?? CataloguedSchema()).schema()
    completedRowCount = change.flatMap { $0.isSwitched ? nil : $0.rowCount }
    isCleaningUp = change?.isSwitched ?? false
    problems = try store.verifyObjects(includingWarnings: false)
  }
}
