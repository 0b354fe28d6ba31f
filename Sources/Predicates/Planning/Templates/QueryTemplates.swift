/// Keeps the templates of one schema's queries. Several threads ask it.
package protocol QueryTemplateKeeping: Sendable {
  /// The template that was kept last with this hash.
  func template(withHash hash: UInt64) -> QueryTemplate?
  /// Keeps a template in place of the one with this hash.
  func keep(_ template: QueryTemplate, withHash hash: UInt64)
}

/// Templates by the hash of their shape, no more than so many.
package struct QueryTemplates: Sendable {
  private var templates: [UInt64: QueryTemplate] = [:]

  /// Bound of the table. When one more shape comes, all are forgotten; shapes that are in use are made again.
  package static let maximumCount = 256

  package init() {}

  package var count: Int { templates.count }

  package subscript(hash: UInt64) -> QueryTemplate? { templates[hash] }

  package mutating func keep(_ template: QueryTemplate, withHash hash: UInt64) {
    if templates.count >= Self.maximumCount, templates[hash] == nil {
      templates.removeAll(keepingCapacity: true)
    }
    templates[hash] = template
  }
}
