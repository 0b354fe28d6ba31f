import PageStore

/// A container's own handle of a store that it may share with other containers.
final class StoreHandle: Sendable {
  let store: Store
  let engine: PageStoreEngine
  let coordinator: StoreCoordinator

  /// - Throws: as ``OpenedStore/open(_:models:as:)``.
  init(_ store: Store, _ models: ContainerModels, _ opening: ContainerOpening) throws(ContextError) {
    let opened = try OpenedStore.open(store, models: models, as: opening)
    self.store = store
    (engine, coordinator) = (opened.engine, opened.coordinator)
  }

  /// - Throws: `closed` after the container was closed.
  func checkOpen() throws(ContextError) {
    try ContextError.mapping { () throws(StoreError) in try store.checkOpen() }
  }

  /// Returns the store as its last commit left it. If the container is closed, or the store was taken over, the
  /// source has that as its ``ObjectSource/failure``, and its reads throw it.
  func newestSource() -> any ObjectSource {
    let snapshot = Result { () throws(ContextError) in
      let snapshot = try ContextError.mapping { () throws(StoreError) in try store.snapshot() }
      try engine.checkShows(snapshot)
      return snapshot
    }
    return engine.view(of: snapshot)
  }
}

extension PersistentContainer {
  /// The store below the container: for tools and tests.
  package var store: Store { handle.store }
}
