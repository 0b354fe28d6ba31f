import PageStore
import Predicates

extension ContextError {
  /// The failure of a store below a context, or the failure that has led to it.
  package init(_ error: StoreError) {
    if let cause = error.cause as? ContextError {
      self = cause
      return
    }
    switch error.code {
    case .closed: self.init(.closed, error.message, storeError: error)
    case .snapshotExpired: self.init(.commitNotHeld, error.message, storeError: error)
    default: self.init(.store, error.description, storeError: error)
    }
  }

  /// Converts any error of the layers below to this type: the error of a transaction's closure, or of a query.
  package init(any error: any Error) {
    switch error {
    case let error as ContextError: self = error
    case let error as StoreError: self.init(error)
    case let error as QueryError: self.init(error)
    case let error as DamagedRecord: self = .damagedRecord(error.number, of: error.entity)
    default: self.init(.store, String(describing: error))
    }
  }

  /// Runs `body`; an error of the layers below, such as a `StoreError`, is thrown as a `ContextError`.
  static func mapping<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(ContextError) -> R {
    do { return try body() } catch { throw ContextError(any: error) }
  }
}
