/// The children of a context, which doesn't keep them alive.
struct ContextChildren {
  private struct Reference {
    weak var child: ManagedObjectContext?
  }
  private var references: [Reference] = []

  /// True if no child is alive.
  var isEmpty: Bool { references.allSatisfy { $0.child == nil } }

  mutating func add(_ child: ManagedObjectContext) {
    references.removeAll { $0.child == nil }
    references.append(Reference(child: child))
  }

  /// Returns whether one of the living children meets a condition.
  func contains(where predicate: (ManagedObjectContext) -> Bool) -> Bool {
    references.contains { $0.child.map(predicate) ?? false }
  }

  /// Calls `body` with each living child.
  func forEach(_ body: (ManagedObjectContext) -> Void) {
    for reference in references { if let child = reference.child { body(child) } }
  }
}
