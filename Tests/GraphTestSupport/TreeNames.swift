@testable import GraphContext

// Trees are named by numbers; tests name them by their contents.

extension ResolvedSchema {
  /// The name of the tree with a label such as `e/Item`, `i/Item/title`, `r/Item/maker` or `m/Item/tags`.
  package func tree(_ label: String) -> String { TreeLabels(catalogue).tree(label) }

  /// The key of an entity's lease of object numbers.
  package func numbersKey(_ entity: String) -> [UInt8] {
    SchemaTree.numbersKey(catalogue.entity(named: entity)?.number ?? EntityNumber(rawValue: 0))
  }
}

extension PersistentContainer {
  package func tree(_ label: String) -> String { coordinator.schema.tree(label) }
}
