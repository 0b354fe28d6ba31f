import Cambium
import TestSupport

@testable import GraphContext

/// Two contexts of a store that take turns, beside plain values: each context saves or rolls back before the other one
/// continues. The working context may have a child, which then works instead of it.
///
/// A random test derives its run from this class. The run makes the steps and compares.
open class ContextTurns<Shown> {
  public var generator: SeededGenerator
  public private(set) var contexts: [ManagedObjectContext] = []
  /// The index of the working context.
  public private(set) var current = 0
  /// The values in the store.
  public var saved: Shown
  /// The values that ``context`` shows.
  public var shown: Shown
  public private(set) var child: (context: ManagedObjectContext, before: Shown)?

  public init(_ container: PersistentContainer, _ generator: SeededGenerator, _ shown: Shown) throws {
    self.generator = generator
    saved = shown
    self.shown = shown
    try makeContexts(of: container)
  }

  open func makeContexts(of container: PersistentContainer) throws {
    contexts = try (0..<2).map { _ in
      ManagedObjectContext(container.coordinator, showing: try container.coordinator.engine.newestSource())
    }
  }

  /// Ends both contexts, so that the container can be closed.
  public func endContexts() {
    for context in contexts { context.end() }
    contexts = []
  }

  /// The context that works: the child, if there is one.
  public var context: ManagedObjectContext { child?.context ?? contexts[current] }

  /// Saves the working context. There is no child.
  public func saveContext() throws {
    try contexts[current].save()
    saved = shown
  }

  /// Discards the changes of the working context. There is no child.
  public func rollBackContext() {
    contexts[current].rollback()
    shown = saved
  }

  /// Makes a child of the working context.
  public func makeChild() { child = (contexts[current].makeChild(), shown) }

  /// Gives the child up, if there is one.
  ///
  /// - Parameter isSaving: true if the child saves before; false if its changes are lost.
  public func endChild(saving isSaving: Bool) throws {
    guard let child else { return }
    if isSaving { try child.context.save() } else { shown = child.before }
    self.child = nil
  }

  /// Lets the other context continue. The current one has no unsaved changes.
  open func handOver() throws {
    current = 1 - current
    try contexts[current].refresh()
  }

  /// Saves all changes, and lets the other context continue.
  open func finish() throws {
    try endChild(saving: true)
    try saveContext()
    try handOver()
  }
}
