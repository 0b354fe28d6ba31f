import PageStore

@testable import GraphContext

// Access of tests to the levels below containers and contexts of the PageStore engine.

extension PersistentContainer {
  var engine: PageStoreEngine { handle.engine }

  func newestView() throws -> StoreView { try engine.newestView() }
}

extension ManagedObjectContext {
  /// The snapshot that a context without parents shows.
  var view: StoreView { source as! StoreView }

  /// The store that the context saves to.
  var store: Store { (coordinator.engine as! PageStoreEngine).store }

  func newestView() throws -> StoreView { try (coordinator.engine as! PageStoreEngine).newestView() }
}
