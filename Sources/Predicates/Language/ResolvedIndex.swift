/// An index whose properties were found in the schema: a declared one, or the one that every to-one relationship has.
///
/// Its entries are ordered by the encoded values in the order of the columns, each ascending with nil first and NaN
/// last, ties by object ID. It is made once for each schema, and shared.
public final class ResolvedIndex: Sendable {
  /// The origin of an index.
  public enum Origin: Sendable, Hashable {
    /// An index that the model declares. Every object has an entry; in an index whose first column is of elements,
    /// it has one for each different element of its list.
    case declared
    /// The to-one relationship of the index's name. Objects that refer to nothing have no entry.
    case relationship
  }

  /// One of the properties that an index is over.
  public struct Column: Sendable, Hashable {
    /// The slot of the property in its entity.
    public let slot: Int
    /// The folding of the slot's strings before they become keys; empty for other values. The column serves
    /// comparisons with the same options, and no others.
    public let folding: StringOptions
    /// The kind of the elements of the list in the slot, if the column has one element; nil if it has the slot's value.
    public let elementKind: AttributeKind?

    /// Makes a column.
    public init(slot: Int, folding: StringOptions = [], elementKind: AttributeKind? = nil) {
      self.slot = slot
      self.folding = folding
      self.elementKind = elementKind
    }
  }

  /// The identifier of the index in its schema.
  public let id: IndexID
  /// The name in messages and plans, unique within the entity's indexes of one origin: the names of the properties
  /// joined by a comma, such as `month,day`, and the folding: `title[cd]`.
  public let name: String
  /// The origin of the index.
  public let origin: Origin
  /// The columns, in key order.
  public let columns: [Column]
  /// True if no two records share the tuple; a tuple with any nil is not constrained.
  public let isUnique: Bool
  /// The columns' slots, in key order.
  public let slots: [Int]
  /// Bits of the slots.
  public let slotMask: UInt64

  private init(_ id: IndexID, _ name: String, _ origin: Origin, _ columns: [Column], isUnique: Bool) {
    self.id = id
    self.name = name
    self.origin = origin
    self.columns = columns
    self.isUnique = isUnique
    slots = columns.map(\.slot)
    slotMask = columns.reduce(0) { $0 | 1 << UInt64($1.slot) }
  }

  /// Makes a declared index.
  ///
  /// - Parameters:
  ///   - id: the index's position among those of its entity.
  ///   - name: the index's name.
  ///   - slots: the slots of the properties, in the order of the declaration.
  ///   - stored: all stored properties of the entity, in slot order.
  ///   - isUnique: true if no two objects may have equal values in all of the properties.
  ///   - folding: the folding of the strings among the properties.
  public convenience init(
    _ id: IndexID,
    named name: String,
    over slots: [Int],
    of stored: [StoredProperty],
    isUnique: Bool,
    folding: StringOptions = []
  ) {
    let columns = slots.map { slot in
      let elementKind = stored[slot].elementKind
      let isString = (elementKind ?? stored[slot].kind) == .string
      return Column(slot: slot, folding: isString ? folding : [], elementKind: elementKind)
    }
    self.init(id, name, .declared, columns, isUnique: isUnique)
  }

  /// Makes the index of a to-one relationship.
  convenience init(_ id: IndexID, of relationship: StoredProperty) {
    self.init(id, relationship.name, .relationship, [Column(slot: relationship.slot)], isUnique: false)
  }

  /// True if an object has an entry for each different element of a list.
  public var isOfElements: Bool { columns.first?.elementKind != nil }

  /// True if any column is folded.
  public var isFolded: Bool { columns.contains { !$0.folding.isEmpty } }
}

extension ResolvedIndex: Hashable {
  public static func == (left: ResolvedIndex, right: ResolvedIndex) -> Bool {
    left === right
      || (left.id == right.id && left.name == right.name && left.origin == right.origin
        && left.columns == right.columns && left.isUnique == right.isUnique)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
