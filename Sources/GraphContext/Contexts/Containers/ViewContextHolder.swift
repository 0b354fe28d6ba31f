/// A holder of the view context, which moves it on after saves of other contexts.
@MainActor
final class ViewContextHolder {
  let context: ManagedObjectContext
  private var listening: CommitListening?

  init(_ coordinator: StoreCoordinator, _ source: any ObjectSource) {
    context = ManagedObjectContext(coordinator, showing: source)
    context.name = "view"
    // A user interface that hangs should say why sooner or later.
    context.saveTimeout = .seconds(10)
    context.holder = self
    context.isObservable = true
    context.undoManager = ContextUndoManager()
    context.scheduleEvent = { [weak self] in Task { @MainActor in self?.context.processPendingChanges() } }
    listening = CommitListening(coordinator) { @MainActor [weak self] in self?.moveOn() }
  }

  isolated deinit {
    listening = nil
    context.end()
  }

  /// Moves the context to the newest commit, if it follows other contexts.
  private func moveOn() {
    listening?.beginTurn()
    context.deferringError(()) { () throws(ContextError) in try context.mergeAutomatically() }
  }
}
