import PageStore
import Predicates

extension ContextError {
  /// Runs `body`; what the layers below throw is thrown as a `ContextError`, everything else as it is.
  static func mapping<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw ContextError(error)
    } catch let error as DamagedRecord {
      throw ContextError(
        .corrupt,
        "the record of \(error.entity) \(error.number) is damaged",
        context: .init(entity: error.entity)
      )
    }
  }
}
