/// An index that a plan can use: a declared one, or the one that every to-one relationship has.
package struct IndexReference: Sendable, Hashable {
  package enum Origin: Sendable, Hashable {
    /// One of the entity's ``EntitySchema/indexes``.
    case declared
    /// The relationship of the index's name. Objects that refer to nothing have no entry.
    case relationship
  }

  package struct Column: Sendable, Hashable {
    package var slot: Int
    /// How the slot's values are folded in the keys; nothing for what is no string.
    package var folding: StringOptions
  }

  package var entity: String
  package var name: String
  package var origin: Origin
  /// In key order.
  package var columns: [Column]
}

extension IndexReference {
  /// Every index of an entity, the declared ones first.
  static func all(
    of entity: String,
    _ stored: [StoredProperty],
    _ indexes: [IndexSchema]
  ) -> [IndexReference] {
    indexes.map { index in
      let columns = index.slots.map { slot in
        IndexReference.Column(slot: slot, folding: stored[slot].kind == .string ? index.folding : [])
      }
      return IndexReference(entity: entity, name: index.name, origin: .declared, columns: columns)
    }
      + stored.filter { $0.kind == .reference }.map {
        let column = IndexReference.Column(slot: $0.slot, folding: [])
        return IndexReference(entity: entity, name: $0.name, origin: .relationship, columns: [column])
      }
  }
}

/// Neighbouring entries of an index: those whose first columns equal `prefix`, and whose next column is in `next`. Values
/// are folded as the columns are.
package struct IndexRange: Sendable, Hashable {
  /// The values of the first columns; `null` for nil.
  package var prefix: [AttributeValue]
  /// What the column after the prefix holds; nil for anything.
  package var next: ValueSet.Segment?

  package init(prefix: [AttributeValue] = [], next: ValueSet.Segment? = nil) {
    self.prefix = prefix
    self.next = next
  }

  /// The whole index.
  package static let all = IndexRange()
}

/// How many rows there are, exactly and in O(log n): what the counted trees answer.
package protocol IndexCounting {
  /// How many objects the entity has.
  func count(of entity: String) throws -> Int
  /// How many entries the range has.
  func count(_ range: IndexRange, in index: IndexReference) throws -> Int
  /// The objects of the range's entries. O(entries); asked for few only.
  func objectIDs(_ range: IndexRange, in index: IndexReference) throws -> [ObjectNumber]
  /// The objects that have one of these as an element of a to-many relationship, each once, ascending. O(elements · log n);
  /// asked for few only.
  func owners(of elements: [ObjectNumber], in relationship: RowPaths.Relationship) throws -> [ObjectNumber]
  /// The objects of an entity that meet a condition, ascending, found by a pass over all of them; nil where they are more than `limit`.
  ///
  /// - Parameter scope: that of the condition's paths.
  func objectIDs(
    of entity: EntitySchema,
    where condition: NormalPredicate,
    scope: Int,
    atMost limit: Int
  ) throws -> [ObjectNumber]?
}
