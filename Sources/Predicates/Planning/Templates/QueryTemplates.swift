/// A cache of the templates of one schema's queries, for several threads.
package protocol QueryTemplateKeeping: Sendable {
  /// Returns the template that was kept last with this hash.
  func template(withHash hash: UInt64) -> QueryTemplate?
  /// Keeps a template in place of the one with this hash.
  func keep(_ template: QueryTemplate, withHash hash: UInt64)
}

/// A bounded table of templates by the hash of their shape.
package struct QueryTemplates: Sendable {
  private var templates: [UInt64: QueryTemplate] = [:]

  /// The bound of the table. One more template empties the table; templates that are in use are made again.
  static let maximumCount = 256

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
