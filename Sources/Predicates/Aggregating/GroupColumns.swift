/// The columns of rows that aren't objects, as predicates find them: by name, and `origin.name` by its two names as well.
package struct GroupColumns: SchemaProviding {
  package struct Column: Sendable {
    package var name: String
    package var kind: AttributeKind

    package init(_ name: String, _ kind: AttributeKind) {
      self.name = name
      self.kind = kind
    }
  }

  /// What conditions are resolved for.
  package var entity: EntitySchema { Self.entity(title, properties[title] ?? []) }
  private let title: String
  private let places: [String: Int]
  /// By what they belong to: the row, or the first part of a name.
  private var properties: [String: [StoredProperty]] = [:]

  /// - Parameter title: what to call a row in messages.
  package init(_ columns: [Column], title: String) {
    self.title = title
    places = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for column in columns {
      add(column.name, column.kind, nil, to: title)
      let names = column.name.split(separator: ".").map(String.init)
      guard names.count > 1, !column.name.contains("(") else { continue }
      for (depth, name) in names.enumerated() {
        let owner = depth == 0 ? title : names.prefix(depth).joined(separator: ".")
        let isLast = depth == names.count - 1
        let destination = isLast ? nil : names.prefix(depth + 1).joined(separator: ".")
        add(name, isLast ? column.kind : .reference, destination, to: owner)
      }
    }
  }

  package func entitySchema(named name: String) -> EntitySchema? {
    properties[name].map { Self.entity(name, $0) }
  }

  private static func entity(_ name: String, _ properties: [StoredProperty]) -> EntitySchema {
    EntitySchema(name: name, stored: properties, toMany: [], indexes: [])
  }

  private mutating func add(_ name: String, _ kind: AttributeKind, _ destination: String?, to owner: String) {
    var siblings = properties[owner] ?? []
    if let known = siblings.firstIndex(where: { $0.name == name }) {
      if let destination { siblings[known].destination = destination }
    } else {
      siblings.append(
        StoredProperty(
          name: name,
          slot: siblings.count,
          kind: kind,
          isOptional: true,
          destination: destination
        )
      )
    }
    properties[owner] = siblings
  }

  /// The column of this name.
  package func place(of name: String) -> Int? { places[name] }

  /// A row, for predicates that were resolved for ``entity``.
  package func row(_ values: [AttributeValue]) -> Row { Row(places: places, values: values) }

  package struct Row: PredicateSubject {
    fileprivate let places: [String: Int]
    fileprivate let values: [AttributeValue]

    package func value(at path: ResolvedPath) -> AttributeValue {
      places[path.name].map { values[$0] } ?? .null
    }

    /// A row is no object: it leads to none.
    package func elements(_ relationship: String, of owner: ResolvedPath) -> [Row] { [] }
  }
}
