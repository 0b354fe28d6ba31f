import Cambium
import TestSupport

@testable import GraphContext

/// Contexts that take turns, and undo and redo their own changes.
open class UndoableTurns<Shown>: ContextTurns<Shown> {
  public private(set) var undoManagers: [ContextUndoManager] = []
  /// The values before each change that the working context can undo.
  private var undone: [Shown] = []
  /// The values after each change that the working context can redo.
  private var redone: [Shown] = []

  open override func makeContexts(of container: PersistentContainer) throws {
    try super.makeContexts(of: container)
    undoManagers = [ContextUndoManager(), ContextUndoManager()]
    for (context, manager) in zip(contexts, undoManagers) { context.undoManager = manager }
  }

  /// Makes a change as one group of undoing.
  public func edit(_ change: () throws -> Void) throws {
    if child != nil { return try change() }
    let before = shown
    undoManagers[current].beginUndoGrouping()
    try change()
    undoManagers[current].endUndoGrouping()
    if undoManagers[current].undoCount > undone.count {
      undone.append(before)
      redone = []
    }
  }

  public func undoOrRedo() {
    guard child == nil else { return }
    if generator.chance(1, in: 3), let later = redone.popLast() {
      undone.append(shown)
      contexts[current].redo()
      shown = later
    } else if let earlier = undone.popLast() {
      redone.append(shown)
      contexts[current].undo()
      shown = earlier
    }
  }

  public func forgetUndo() {
    undoManagers[current].removeAllActions()
    undone = []
    redone = []
  }

  /// Makes a child, or gives the present one up.
  public func useChild() throws {
    if child == nil { return makeChild() }
    try endChild(saving: !generator.chance(1, in: 4))
    forgetUndo()
  }

  /// Saves, so that the store shows what the working context does. Returns false if a child works.
  public func saveAll() throws -> Bool {
    guard child == nil else { return false }
    try saveContext()
    forgetUndo()
    return true
  }

  open override func handOver() throws {
    forgetUndo()
    try super.handOver()
    forgetUndo()
  }
}
