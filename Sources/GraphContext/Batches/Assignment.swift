import Foundation
import Predicates

/// The new value of an attribute in
/// ``PersistentContainer/batchUpdate(_:_:chunkSize:durability:author:)-(_,Assignment<Root>...,_,_,_)``: a value, or an
/// expression over the attributes that each object has.
public struct Assignment<Root: ManagedObject>: Sendable {
  private let names: Result<[String], QueryError>
  private let operand: Result<PredicateOperand, QueryError>
  /// True if the attribute's type can't read the value back.
  private let isUnreadable: Bool

  /// Sets an attribute to a value: `.set(\.rating, to: 5)`.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    to value: Value
  ) -> Assignment {
    let stored = value._attributeValue
    // The encoder refuses a value that can't be encoded, which gives data without bytes.
    let isEncoded = Value._attributeKind != .coded || stored != .data(Data())
    return Assignment(
      names: Root.names(of: attribute),
      operand: .success(.value(stored)),
      isUnreadable: !stored.isNull && isEncoded && Value(_attributeValue: stored) == nil
    )
  }

  /// Sets an attribute to an expression: `.set(\.seconds) { $0.seconds + 1 }`.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    _ expression: (ValueExpression<Root, Root>) -> ValueExpression<Root, Value>
  ) -> Assignment {
    Assignment(
      names: Root.names(of: attribute),
      operand: expression(ValueExpression<Root, Root>.object).operand
    )
  }

  /// Sets an attribute that can be nil to an expression.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value?>,
    _ expression: (ValueExpression<Root, Root>) -> ValueExpression<Root, Value>
  ) -> Assignment {
    Assignment(
      names: Root.names(of: attribute),
      operand: expression(ValueExpression<Root, Root>.object).operand
    )
  }

  private init(
    names: Result<[String], QueryError>,
    operand: Result<PredicateOperand, QueryError>,
    isUnreadable: Bool = false
  ) {
    (self.names, self.operand, self.isUnreadable) = (names, operand, isUnreadable)
  }

  func resolved(
    for entity: EntitySchema,
    in schema: Schema,
    store: UUID
  ) throws(QueryError) -> ResolvedAssignment {
    let path = try PathResolver(entity: entity, schema: schema).resolve(names.get()).path
    guard path.hops.isEmpty, case .slot(let slot, let kind) = path.leaf, kind != .reference else {
      throw QueryError(
        .keyPath,
        "\(path.name) is no attribute of \(entity.name): a batch sets attributes only"
      )
    }
    try schema.checkSettable(path.name, of: entity.name)
    return ResolvedAssignment(
      slot: slot,
      name: path.name,
      kind: kind,
      expression: try operand.get().resolved(for: entity, in: schema, store: store),
      isUnreadable: isUnreadable
    )
  }
}

/// An assignment whose names are found in the schema.
struct ResolvedAssignment: Sendable {
  let slot: Int
  let name: String
  let kind: AttributeKind
  let expression: ResolvedExpression
  /// True for a value that the attribute's type can't read back.
  let isUnreadable: Bool
}

extension ContextError {
  /// Returns the error of a value that its type can't read back from the stored form: a raw value, say, that the failable
  /// initialiser refuses.
  ///
  /// - Parameter attribute: the entity and the attribute.
  static func unreadableValue(of attribute: String, _ context: Context) -> ContextError {
    let message = "\(attribute) can't have this value: its type can't read it back from what would be stored"
    return ContextError(.wrongValue, message, context: context)
  }
}

extension Schema {
  /// Throws `keyPath` for a derived attribute.
  func checkSettable(_ attribute: String, of entity: String) throws(QueryError) {
    guard self.entity(named: entity)?.attribute(named: attribute)?.derivation != nil else { return }
    throw QueryError(
      .keyPath,
      "\(entity).\(attribute) is derived: the store makes it, and a batch can't set it"
    )
  }
}
