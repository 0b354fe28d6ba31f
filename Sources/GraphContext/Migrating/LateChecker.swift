import Foundation
import PageStore

/// Checks the objects that the passes of a custom stage have left, before the store switches to them.
struct LateChecker {
  private let store: Store
  private let change: SchemaChange
  private let schema: StoredSchema
  private let showsValues: Bool

  init(_ store: Store, _ change: SchemaChange, _ schema: StoredSchema, showsValues: Bool) {
    self.store = store
    self.change = change
    self.schema = schema
    self.showsValues = showsValues
  }

  /// - Throws: the error that lists every object which breaks a constraint that the stage adds.
  func check() throws {
    let checker = SchemaChecker(
      change,
      schema,
      try store.snapshot(),
      store: UUID(store.uuid),
      showsValues: showsValues
    )
    let refusal = try checker.lateRefusal()
    if !refusal.isEmpty { throw ContextError.refused(refusal) }
  }
}
