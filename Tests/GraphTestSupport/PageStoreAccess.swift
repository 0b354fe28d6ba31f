import PageStore

@testable import GraphContext

// Access of tests to the levels below containers and contexts of the PageStore engine.

extension PersistentContainer {
  package var engine: PageStoreEngine { handle.engine }

  package func newestView() throws -> StoreView { try engine.newestView() }
}

extension ManagedObjectContext {
  /// The snapshot that a context without parents shows.
  package var view: StoreView { source as! StoreView }

  /// The store that the context saves to.
  package var store: Store { (coordinator.engine as! PageStoreEngine).store }

  package func newestView() throws -> StoreView { try (coordinator.engine as! PageStoreEngine).newestView() }
}
