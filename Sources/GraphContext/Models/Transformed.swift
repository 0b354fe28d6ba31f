import Predicates

/// The two closures by which the values of a type are stored as values of another one.
///
/// A model's attribute declares it as
/// `@Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) })) var color: Color`.
public struct Transformation<Value: Sendable, Stored: AttributeType>: Sendable
where Stored._Present == Stored {
  fileprivate let store: @Sendable (Value) -> Stored
  private let restore: @Sendable (Stored) throws -> Value?
  private let placeholder: Value?

  /// - Parameters:
  ///   - store: makes the stored value. Equal values must give equal results.
  ///   - restore: makes the value again; nil, or an error, where the stored value stands for no value.
  ///   - placeholder: any value, for ``/Predicates/AttributeType/tracerValue``; nil to use the value that `restore`
  ///     makes from the placeholder of the stored type.
  public init(
    to store: @escaping @Sendable (Value) -> Stored,
    from restore: @escaping @Sendable (Stored) throws -> Value?,
    placeholder: Value? = nil
  ) {
    self.store = store
    self.restore = restore
    self.placeholder = placeholder
  }

  fileprivate func value(of stored: Stored) -> Value? { try? restore(stored) }

  fileprivate var anyValue: Value? { placeholder ?? Stored.tracerValue.flatMap(value(of:)) }
}

/// A type that stands for a transformation. `@Model` writes one for each attribute that is transformed.
public protocol AttributeTransformer: SendableMetatype {
  /// The type of the property.
  associatedtype Value: Sendable
  /// The type of attribute that its values are stored as.
  associatedtype Stored: AttributeType where Stored._Present == Stored
  /// The transformation.
  static var transformation: Transformation<Value, Stored> { get }
}

/// A value of a transformed attribute: stored, compared and indexed as the transformed value.
public struct Transformed<Transformer: AttributeTransformer>: Sendable {
  /// The value of the property.
  public let value: Transformer.Value

  /// Wraps a value.
  public init(_ value: Transformer.Value) { self.value = value }

  /// Wraps the value of an optional property.
  public static func _$optional(_ value: Transformer.Value?) -> Self? { value.map(Self.init) }
}

extension Transformed: AttributeType {
  public static var _attributeKind: AttributeKind { Transformer.Stored._attributeKind }
  public static var _elementKind: AttributeKind? { Transformer.Stored._elementKind }
  public var _attributeValue: AttributeValue { Transformer.transformation.store(value)._attributeValue }

  /// Makes the value of a stored one; nil also where the closure makes no value.
  public init?(_attributeValue stored: AttributeValue) {
    self.init(restoring: Transformer.Stored(_attributeValue: stored))
  }

  public init?(_record record: borrowing RecordView, slot: Int) {
    self.init(restoring: Transformer.Stored(_record: record, slot: slot))
  }

  private init?(restoring stored: Transformer.Stored?) {
    guard let value = stored.flatMap(Transformer.transformation.value(of:)) else { return nil }
    self.init(value)
  }

  /// The placeholder that the attribute gives, or else the value made from the stored type's zero or empty value; nil
  /// if no value can be made from that.
  public static var tracerValue: Self? { Transformer.transformation.anyValue.map(Self.init) }
}

/// A ``Transformed`` of any transformer.
protocol TransformedAttribute: AttributeType {
  /// Returns the stored form of a value that a property's getter returns; nil for nil, and for something that is no
  /// value of the property.
  static func attributeValue(of value: Any) -> AttributeValue?
  /// The end of a sentence that says what to do about a missing placeholder.
  static var withoutPlaceholder: String { get }
}

extension Transformed: TransformedAttribute {
  static func attributeValue(of value: Any) -> AttributeValue? {
    (value as? Transformer.Value).map { Self($0)._attributeValue }
  }

  static var withoutPlaceholder: String {
    "'.transformed' can't make a \(Transformer.Value.self) from an empty \(Transformer.Stored.self);"
      + " give it a placeholder"
  }
}
