import Dispatch

/// A holder of the view context, which moves it on after saves of other contexts.
@MainActor
final class ViewContextHolder {
  let context: ManagedObjectContext
  private let coordinator: StoreCoordinator
  private var listener: UInt64 = 0

  init(_ coordinator: StoreCoordinator, _ source: any ObjectSource) {
    self.coordinator = coordinator
    context = ManagedObjectContext(coordinator, showing: source)
    context.name = "view"
    // A user interface that hangs should say why sooner or later.
    context.saveTimeout = .seconds(10)
    context.holder = self
    context.isObservable = true
    context.undoManager = ContextUndoManager()
    context.scheduleEvent = { [weak self] in Task { @MainActor in self?.context.processPendingChanges() } }
    let news = PendingTurn()
    listener = coordinator.addListener { [weak self] in
      // Saves that come before the main actor has handled the first one need no turn of their own.
      guard news.begin() else { return }
      Task { @MainActor in
        news.end()
        self?.moveOn()
      }
    }
  }

  isolated deinit {
    coordinator.removeListener(listener)
    context.end()
  }

  /// Moves the context to the newest commit, if it follows other contexts.
  private func moveOn() {
    context.deferringError(()) { () throws(ContextError) in try context.mergeAutomatically() }
  }
}

extension DispatchQueue {
  /// Runs `body` on the queue and waits for it without blocking a thread.
  func run<Success: Sendable, Failure: Error>(
    _ body: @Sendable @escaping () throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }
}
