/// Labels for the content of a store's trees, made of names: a tree's own name has only a number.
///
/// | tree | label |
/// |---|---|
/// | records | `e/Entity` |
/// | an index | `i/Entity/name,name`, with the folding in brackets |
/// | a to-one relationship | `r/Entity/relationship` |
/// | a many-to-many relationship | `m/Entity/relationship` |
/// | the order of a many-to-many relationship | `o/Entity/relationship` |
/// | an attribute that is stored externally | `b/Entity/attribute` |
package struct TreeLabels: Sendable {
  /// The entity and the property or index that a tree belongs to.
  struct Owner {
    let kind: TreeKind
    let entity: String
    /// The index's or the property's name; nil for records.
    let name: String?

    fileprivate var label: String {
      ([kind.rawValue, entity] + [name].compactMap(\.self)).joined(separator: "/")
    }
  }

  private var owners: [String: Owner] = [:]
  private var trees: [String: String] = [:]

  package init(_ schema: CataloguedSchema) {
    for entity in schema.entities {
      note(entity.tree, .records, entity, nil)
      for index in entity.indexes { note(index.tree, .index, entity, entity.name(of: index)) }
      for property in entity.properties {
        if let tree = property.relationship?.tree {
          note(tree, property.isToMany ? .pairs : .references, entity, property.name)
        }
        if let tree = property.relationship?.orderTree { note(tree, .orders, entity, property.name) }
        if let tree = property.blobTree { note(tree, .blobs, entity, property.name) }
      }
    }
  }

  private mutating func note(_ tree: String, _ kind: TreeKind, _ entity: CataloguedEntity, _ name: String?) {
    let owner = Owner(kind: kind, entity: entity.name, name: name)
    owners[tree] = owner
    trees[owner.label] = tree
  }

  /// Returns the owner of a tree; nil for a tree that the schema doesn't know.
  func owner(of tree: String) -> Owner? { owners[tree] }

  /// Returns the label of a tree's content; nil for a tree that the schema doesn't know.
  package func label(of tree: String) -> String? { owners[tree]?.label }

  /// Returns the name of the tree in messages: `e/Book (e/3)`. A tree that the schema doesn't know has its
  /// name alone.
  package func title(of tree: String) -> String { Self.title(of: tree, label: label(of: tree)) }

  package static func title(of tree: String, label: String?) -> String {
    label.map { "\($0) (\(tree))" } ?? tree
  }

  /// Returns the tree that has this label, or this name.
  package func tree(_ label: String) -> String { trees[label] ?? label }
}
