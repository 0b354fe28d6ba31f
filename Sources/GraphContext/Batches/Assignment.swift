import Foundation
import Predicates

/// The new value of an attribute in
/// ``PersistentContainer/batchUpdate(_:_:chunkSize:durability:author:)-(_,Assignment<Root>...,_,_,_)``: a value, or an
/// expression over the attributes that each object has.
public struct Assignment<Root: ManagedObject>: Sendable {
  private let names: Result<[String], QueryError>
  private let operand: Result<PredicateOperand, QueryError>
  private let reading: AssignedReading

  /// Sets an attribute to a value: `.set(\.rating, to: 5)`.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    to value: Value
  ) -> Assignment {
    let stored = value._attributeValue
    // The encoder refuses a value that can't be encoded, which gives data without bytes.
    let isEncoded = Value._attributeKind != .coded || stored != .data(Data())
    let fails = !stored.isNull && isEncoded && Value(_attributeValue: stored) == nil
    return Assignment(
      names: Root.names(of: attribute),
      operand: .success(.value(stored)),
      reading: fails ? .fails : .succeeds
    )
  }

  /// Sets an attribute to an expression: `.set(\.seconds) { $0.seconds + 1 }`.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    _ expression: (ValueExpression<Root, Root>) -> ValueExpression<Root, Value>
  ) -> Assignment {
    Assignment(
      names: Root.names(of: attribute),
      operand: expression(ValueExpression<Root, Root>.object).operand,
      reading: .unknown
    )
  }

  /// Sets an attribute that can be nil to an expression.
  public static func set<Value: AttributeType>(
    _ attribute: KeyPath<Root, Value?>,
    _ expression: (ValueExpression<Root, Root>) -> ValueExpression<Root, Value>
  ) -> Assignment {
    Assignment(
      names: Root.names(of: attribute),
      operand: expression(ValueExpression<Root, Root>.object).operand,
      reading: .unknown
    )
  }

  private init(
    names: Result<[String], QueryError>,
    operand: Result<PredicateOperand, QueryError>,
    reading: AssignedReading
  ) {
    (self.names, self.operand, self.reading) = (names, operand, reading)
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
      reading: reading
    )
  }
}

/// An assignment whose names are found in the schema.
struct ResolvedAssignment: Sendable {
  let slot: Int
  let name: String
  let kind: AttributeKind
  let expression: ResolvedExpression
  let reading: AssignedReading
}

/// The outcome of reading back the value of an assignment, by the type of the attribute.
enum AssignedReading: Sendable {
  /// All objects get the same value, and the type can read it back, or can't.
  case succeeds, fails
  /// The value is calculated for each object.
  case unknown
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
