import Cambium
import Foundation
import GraphTestSupport
import PageStore

@testable import GraphContext

/// The sources that contexts read and save to, in the tests that every source has to pass.
enum SourceUnderTest: String, CaseIterable {
  case pageStore, pageStoreBelowParent, dictionary, dictionaryBelowParent

  /// A library in such a store, whose contexts read such a source.
  func library(of models: [any ManagedObject.Type] = Library.models) throws -> LibraryUnderTest {
    let models = ContainerModels(classes: models)
    switch self {
    case .pageStore, .pageStoreBelowParent:
      var options = StoreOptions()
      options.durability = .none
      let store = try Store.inMemory(options: options)
      let opened = try OpenedStore.open(store, models: models, as: ContainerOpening())
      return LibraryUnderTest(source: self, coordinator: opened.coordinator, store: store)
    case .dictionary, .dictionaryBelowParent:
      let schema = try ResolvedSchema(Schema(models.classes))
      let types = schema.entities.map { models.type(named: $0.name) }
      let coordinator = StoreCoordinator(DictionaryEngine(schema), types: types)
      return LibraryUnderTest(source: self, coordinator: coordinator, store: nil)
    }
  }

  fileprivate var isBelowParent: Bool { self == .pageStoreBelowParent || self == .dictionaryBelowParent }
}

/// A library whose contexts are those of one source.
struct LibraryUnderTest {
  let source: SourceUnderTest
  let coordinator: StoreCoordinator
  /// Held because it would close.
  let store: Store?

  /// A context at the newest commit, maybe below a parent that the test doesn't see.
  func context() throws -> ManagedObjectContext {
    let root = try ManagedObjectContext(coordinator: coordinator)
    return source.isBelowParent ? root.makeChild() : root
  }

  /// Saves to the store, through the parent if there is one.
  func save(_ context: ManagedObjectContext) throws(ContextError) {
    try context.save()
    try context.parent?.save()
  }

  func rollback(_ context: ManagedObjectContext) {
    context.rollback()
    context.parent?.rollback()
  }

  /// The code of the error that a save throws; nil for none.
  func failure(ofSaving context: ManagedObjectContext) -> ContextError.Code? {
    do throws(ContextError) { try save(context) } catch { return error.code }
    return nil
  }
}
