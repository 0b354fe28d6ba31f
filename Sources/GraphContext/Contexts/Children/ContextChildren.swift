/// The children of a context, which it doesn't keep.
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

  /// Whether one of the children that are still there meets a condition.
  func contains(where predicate: (ManagedObjectContext) -> Bool) -> Bool {
    references.contains { $0.child.map(predicate) ?? false }
  }

  /// Calls `body` with each child that is still there.
  func forEach(_ body: (ManagedObjectContext) -> Void) {
    for reference in references { if let child = reference.child { body(child) } }
  }
}
