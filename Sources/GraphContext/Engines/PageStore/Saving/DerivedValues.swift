import PageStore
import Predicates

/// Computes the derived values of one entity from the trees of a transaction or of a snapshot.
struct DerivedValues<Tree: OrderedTree> {
  private let schema: ResolvedSchema
  /// Finds a tree by its name; nil if there is none.
  private let tree: (String) throws -> Tree?
  private var readers: [Int: RecordReader] = [:]

  init(_ schema: ResolvedSchema, _ tree: @escaping (String) throws -> Tree?) {
    self.schema = schema
    self.tree = tree
  }

  /// Returns the value of a derived attribute of an object; nil if its kind can't hold the number. O(log n) for a
  /// count and for a folded copy, O(members · log n) for other aggregates.
  ///
  /// - Throws: `corrupt` where a member's record is missing or damaged.
  mutating func value(
    of derivation: StoredDerivation,
    _ number: ObjectNumber,
    _ record: RecordView
  ) throws -> AttributeValue? {
    switch derivation.source {
    case .folded(let slot, let options): return record.folded(slot, options)
    case .aggregate(let aggregate):
      let links = try tree(aggregate.relationship.links.treeName)
      let members = KeyRange.prefix(KeyCoder.key(of: number))
      guard let value = aggregate.value else {
        return derivation.stored(.int(Int64(try links?.count(in: members) ?? 0)))
      }
      var result = MemberAggregate(value.function.aggregate)
      var whole: Int128 = 0
      let isWhole = value.function == .sum && value.kind.isInteger
      let entity = schema.entities[aggregate.relationship.destination]
      var cursor = try links?.cursor(in: members)
      guard cursor != nil, let records = try tree(entity.treeName) else { return derivation.emptyValue }
      while try cursor?.next() == true {
        guard let key = try cursor?.key(), let member = KeyCoder.number(ending: key) else { continue }
        let found = try self.value(at: value.slot, of: member, entity, in: records)
        if isWhole { whole += found.wholeNumber ?? 0 } else { result.add(found) }
      }
      if isWhole { return AttributeValue(wholeNumber: whole).flatMap(derivation.stored) }
      return result.value(value.kind).flatMap(derivation.stored)
    }
  }

  /// All derived values of an object, by slot.
  ///
  /// - Throws: `validationFailed` for a number that the kind of its attribute can't hold.
  mutating func all(
    of entity: StoredEntity,
    _ number: ObjectNumber,
    _ record: RecordView
  ) throws -> [Int: AttributeValue] {
    var values: [Int: AttributeValue] = [:]
    let own = entity.ownSlots(of: number)
    for derivation in entity.derivations where own.contains(derivation.slot) {
      guard let value = try value(of: derivation, number, record) else {
        throw ContextError.tooGreat(derivation, of: number, entity)
      }
      values[derivation.slot] = value
    }
    return values
  }

  private mutating func value(
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity,
    in records: Tree
  ) throws -> AttributeValue {
    let reader = readers[entity.ordinal] ?? RecordReader(entity)
    readers[entity.ordinal] = reader
    let value = try withKey(number) { key throws(StoreError) in
      try records.find(key)?.withBytes { bytes in reader.view(bytes).map { $0.value(slot) } }
    }
    guard let value = value ?? nil else { throw ContextError.damagedRecord(number, of: entity.name) }
    return value
  }
}

extension StoredDerivation {
  /// Returns an aggregate as the attribute stores it; nil if its kind can't hold the number.
  func stored(_ value: AttributeValue) -> AttributeValue? {
    if value.isNull { return (aggregate?.isTotal ?? false) ? nil : value }
    return kind.isInteger ? value.stored(as: kind) : value
  }
}

extension RecordView {
  /// Returns the string at a slot, folded; nil for nil.
  func folded(_ slot: Int, _ options: StringOptions) -> AttributeValue {
    guard case .string(let text) = value(slot) else { return .null }
    return .string(StringFolding.fold(text, options))
  }
}

extension ContextError {
  /// Returns the error for a derived attribute whose kind can't hold the number.
  static func tooGreat(
    _ derivation: StoredDerivation,
    of number: ObjectNumber,
    _ entity: StoredEntity,
    _ id: ManagedObjectID? = nil
  ) -> ContextError {
    let name = entity.schema.stored[derivation.slot].name
    return ContextError(
      .validationFailed,
      "\(entity.name).\(name) of object \(number) would be a number that \(derivation.kind) can't hold",
      context: .init(entity: entity.name, objectID: id, properties: [name])
    )
  }
}
