/// The columns of rows that aren't objects, as predicates find them: by name, and `origin.name` by its two names as
/// well.
package struct GroupColumns: SchemaProviding {
  package struct Column: Sendable {
    var name: String
    var kind: AttributeKind
    /// The entity of the objects that the column's references lead to; nil for values.
    var entityName: String?

    package init(_ name: String, _ kind: AttributeKind, of entityName: String? = nil) {
      self.name = name
      self.kind = kind
      self.entityName = entityName
    }
  }

  /// The entity for which conditions are resolved.
  package var entity: EntitySchema { entities[0] }
  private let places: [String: Int]
  /// The row's entity, and the entities that the first parts of names stand for.
  private let entities: [EntitySchema]
  private let ordinals: [String: Int]
  /// The schema of the objects to which columns refer.
  private let objects: any SchemaProviding

  /// Makes the columns.
  ///
  /// - Parameters:
  ///   - title: the name of a row in messages.
  ///   - objects: the schema of the objects to which columns refer.
  package init(_ columns: [Column], title: String, objects: some SchemaProviding) {
    self.objects = objects
    places = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    var owners = Owners(title)
    for column in columns {
      owners.add(column.name, column, to: title)
      let names = column.name.split(separator: ".").map(String.init)
      guard names.count > 1, !column.name.contains("(") else { continue }
      for (depth, name) in names.enumerated() {
        let owner = depth == 0 ? title : names.prefix(depth).joined(separator: ".")
        if depth == names.count - 1 {
          owners.add(name, column, to: owner)
        } else {
          owners.add(name, .reference, names.prefix(depth + 1).joined(separator: "."), to: owner)
        }
      }
    }
    entities = owners.entities
    ordinals = owners.ordinals
  }

  package func entitySchema(named name: String) -> EntitySchema? { ordinals[name].map { entities[$0] } }

  package func entitySchema(_ id: EntityID) -> EntitySchema { entities[id.ordinal] }

  package var entityNamesByNumber: [UInt32: String]? { objects.entityNamesByNumber }

  package func rootName(of name: String) -> String { objects.rootName(of: name) }

  /// Returns the position of the column of this name.
  package func place(of name: String) -> Int? { places[name] }

  /// Returns a row, for predicates that were resolved for ``entity``.
  package func row(_ values: [AttributeValue]) -> Row { Row(places: places, values: values) }

  package struct Row: PredicateSubject {
    fileprivate let places: [String: Int]
    fileprivate let values: [AttributeValue]

    package func value(at path: ResolvedPath) -> AttributeValue {
      places[path.name].map { values[$0] } ?? .null
    }

    /// Returns nothing: a row is no object, so it leads to none.
    package func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [Row] { [] }
  }
}

/// A collector of properties by their owner: the row, or the first part of a name.
private struct Owners {
  private(set) var ordinals: [String: Int]
  private var names: [String]
  private var properties: [[StoredProperty]] = [[]]
  /// For each owner, the entities of the objects to which its properties refer, by the property's name.
  private var objectEntities: [[String: String]] = [[:]]

  init(_ title: String) {
    ordinals = [title: 0]
    names = [title]
  }

  var entities: [EntitySchema] {
    names.indices.map { ordinal in
      EntitySchema(
        id: EntityID(ordinal),
        identity: nil,
        name: names[ordinal],
        stored: properties[ordinal],
        toMany: [],
        indexes: [],
        layoutNumber: 0,
        objectEntities: objectEntities[ordinal]
      )
    }
  }

  /// Adds the property that holds a column's values.
  mutating func add(_ name: String, _ column: GroupColumns.Column, to owner: String) {
    add(name, column.kind, nil, to: owner)
    let owner = ordinal(of: owner)
    if let entity = column.entityName { objectEntities[owner][name] = entity }
  }

  mutating func add(_ name: String, _ kind: AttributeKind, _ destination: String?, to owner: String) {
    let owner = ordinal(of: owner)
    if let known = properties[owner].firstIndex(where: { $0.name == name }) {
      if let destination { properties[owner][known].destination = destination }
      return
    }
    properties[owner].append(
      StoredProperty(
        name: name,
        slot: properties[owner].count,
        kind: kind,
        isOptional: true,
        destination: destination
      )
    )
  }

  private mutating func ordinal(of owner: String) -> Int {
    if let known = ordinals[owner] { return known }
    ordinals[owner] = names.count
    names.append(owner)
    properties.append([])
    objectEntities.append([:])
    return names.count - 1
  }
}
