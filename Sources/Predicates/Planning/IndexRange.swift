/// An index that a plan can use: a declared one, or the one that every to-one relationship has.
package struct IndexReference: Sendable, Hashable {
  package enum Origin: Sendable, Hashable {
    /// One of the entity's ``EntitySchema/indexes``.
    case declared
    /// The relationship of the index's name. Objects that refer to nothing have no entry.
    case relationship
  }

  package var entity: String
  package var name: String
  package var origin: Origin
  /// The columns, in key order.
  package var slots: [Int]

  package init(entity: String, name: String, origin: Origin, slots: [Int]) {
    self.entity = entity
    self.name = name
    self.origin = origin
    self.slots = slots
  }
}

extension EntitySchema {
  /// Every index of the entity, the declared ones first.
  package var indexReferences: [IndexReference] {
    indexes.map { IndexReference(entity: name, name: $0.name, origin: .declared, slots: $0.slots) }
      + stored.filter { $0.kind == .reference }
      .map { IndexReference(entity: name, name: $0.name, origin: .relationship, slots: [$0.slot]) }
  }
}

/// Neighbouring entries of an index: those whose first columns equal `prefix`, and whose next column is in `next`.
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
  func objectIDs(_ range: IndexRange, in index: IndexReference) throws -> [UInt64]
}
