import PageStore
import Predicates

extension ContextError {
  /// The failure of a store below a context.
  package init(_ error: StoreError) {
    if error.code == .closed {
      self.init(.closed, error.message, storeError: error)
    } else {
      self.init(.store, error.description, storeError: error)
    }
  }

  /// Any error as this type: what a transaction's closure threw.
  package init(any error: any Error) {
    switch error {
    case let error as ContextError: self = error
    case let error as StoreError: self.init(error)
    default: self.init(.store, String(describing: error))
    }
  }

  /// Runs `body`; what the layers below throw is thrown as a `ContextError`, everything else as it is.
  static func mapping<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw ContextError(error)
    } catch let error as DamagedRecord {
      throw damagedRecord(error.number, of: error.entity)
    }
  }
}
