import PageStore
import Predicates

extension ContextError {
  /// The failure of a store below a context.
  package init(_ error: StoreError) {
    switch error.code {
    case .closed: self.init(.closed, error.message, storeError: error)
    case .snapshotExpired: self.init(.commitNotHeld, error.message, storeError: error)
    default: self.init(.store, error.description, storeError: error)
    }
  }

  /// Any error of the layers below as this type: what a transaction's closure threw, or a query.
  package init(any error: any Error) {
    switch error {
    case let error as ContextError: self = error
    case let error as StoreError: self.init(error)
    case let error as QueryError: self.init(error)
    case let error as DamagedRecord: self = .damagedRecord(error.number, of: error.entity)
    default: self.init(.store, String(describing: error))
    }
  }

  /// Runs `body`; what the layers below throw is thrown as a `ContextError`.
  static func mapping<R>(_ body: () throws -> R) throws(ContextError) -> R {
    do { return try body() } catch { throw ContextError(any: error) }
  }
}
