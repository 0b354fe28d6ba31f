import Predicates
import Synchronization

/// The templates of the queries of one schema, for all contexts of a store.
final class KeptTemplates: QueryTemplateKeeping {
  private let templates = Mutex(QueryTemplates())

  init() {}

  func template(withHash hash: UInt64) -> QueryTemplate? { templates.withLock { $0[hash] } }

  func keep(_ template: QueryTemplate, withHash hash: UInt64) {
    templates.withLock { $0.keep(template, withHash: hash) }
  }
}
