import Predicates

/// The schema's description of one attribute.
///
/// Equal descriptions agree in name, kinds, optionality and derivation, and in whether a part of an embedded value that
/// may be nil is required where the value is there. The other properties belong to the program:
/// they say how objects of an earlier version are converted, and what saves check. They are neither stored with the
/// schema nor part of ``Schema/stableHash``.
public struct AttributeDescription: Sendable, Codable {
  /// The attribute's name.
  public var name: String
  /// The kind in which the values are stored.
  public var kind: AttributeKind
  /// The kind in which each element of a list is stored; nil for an attribute that is no list, or whose elements
  /// queries don't compare.
  public var elementKind: AttributeKind?
  /// True if nil is a value.
  public var isOptional: Bool
  /// The value of objects that were stored before the attribute existed; nil where the schema doesn't say, never
  /// ``/Predicates/AttributeValue/null``.
  public var defaultValue: AttributeValue?
  /// The attribute's name in an earlier version of the schema; nil if it had no other.
  public var originalName: String?
  /// The rules that saves check.
  public var rules: [AttributeRule] = []
  /// True if the history keeps the last value of a deleted object: ``HistoryChange/tombstone``.
  public var preservesValueOnDeletion = false
  /// The rule by which the store makes the value; nil for an attribute that programs set.
  public var derivation: AttributeDerivation?

  /// True for a part that every embedded value has that isn't nil itself; false for an optional part. Nil for an
  /// attribute that is no part of an optional embedded value, and where the schema doesn't say.
  var isRequiredPart: Bool?
  /// The value of such a part in embedded values that were stored before the part existed; nil where the schema doesn't
  /// say.
  var partDefault: AttributeValue?

  /// The closure that makes the first value of a new object, at its insertion, unless the object was given one; nil
  /// where an object has a value before.
  public var insertionDefault: (@Sendable () -> any AttributeType)?
  /// The closure that makes the value of a new object that no initialiser of its class has made; nil where that value
  /// is ``defaultValue``. Each object has a `Date()` or a `UUID()` of its own, while all objects that are older than
  /// the attribute share one.
  public var initialValue: (@Sendable () -> any AttributeType)?

  private enum CodingKeys: CodingKey { case name, kind, elementKind, isOptional, derivation, isRequiredPart }

  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - kind: the kind in which the values are stored.
  ///   - elementKind: the kind in which each element of a list is stored, whose `kind` is `coded`; nil for an attribute
  ///     that is no list.
  ///   - isOptional: whether nil is a value.
  ///   - defaultValue: the value of objects that were stored before the attribute existed; `null` is the same as nil.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  ///   - preservesValueOnDeletion: whether the history keeps the last value of a deleted object.
  ///   - derivation: the rule by which the store makes the value; nil for an attribute that programs set.
  public init(
    name: String,
    kind: AttributeKind,
    elementKind: AttributeKind? = nil,
    isOptional: Bool = false,
    defaultValue: AttributeValue? = nil,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false,
    derivation: AttributeDerivation? = nil
  ) {
    self.derivation = derivation
    self.preservesValueOnDeletion = preservesValueOnDeletion
    self.rules = rules
    self.name = name
    self.kind = kind
    self.elementKind = elementKind
    self.isOptional = isOptional
    self.defaultValue = defaultValue.flatMap { $0.isNull ? nil : $0 }
    self.originalName = originalName
  }
}

extension AttributeDescription {
  /// Makes the value that the attribute begins with in an object made without an initialiser, unless
  /// ``insertionDefault`` gives one.
  func makeInitialValue() -> AttributeValue { initialValue?()._attributeValue ?? defaultValue ?? .null }

  /// True for a part that is nil only if the whole embedded value is nil.
  var isRequiredOfValue: Bool { isRequiredPart ?? false }

  /// The type as text for people: the kind, or for a list the kind of its elements, as in `[string]`.
  var typeText: String { elementKind.map { "[\($0)]" } ?? "\(kind)" }
}

extension AttributeDescription: Hashable {
  public static func == (left: AttributeDescription, right: AttributeDescription) -> Bool {
    (left.name, left.kind, left.elementKind, left.isOptional, left.derivation, left.isRequiredOfValue)
      == (
        right.name, right.kind, right.elementKind, right.isOptional, right.derivation,
        right.isRequiredOfValue
      )
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(kind)
    hasher.combine(elementKind)
    hasher.combine(isOptional)
    hasher.combine(derivation)
    hasher.combine(isRequiredOfValue)
  }
}
