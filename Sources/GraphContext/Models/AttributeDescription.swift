import Predicates

/// What the schema says of one attribute.
///
/// Equal descriptions agree in name, kind and optionality. The others are the program's: they say how objects of an earlier version are taken
/// up, and what saves check. They are no part of what is stored about the schema, nor of ``Schema/stableHash``.
public struct AttributeDescription: Sendable, Codable {
  /// The attribute's name.
  public var name: String
  /// How the values are stored.
  public var kind: AttributeKind
  /// Whether nil is a value.
  public var isOptional: Bool
  /// What an object has that was stored before the attribute existed; nil where the schema doesn't say, never ``/Predicates/AttributeValue/null``.
  public var defaultValue: AttributeValue?
  /// The attribute's name in an earlier version of the schema; nil if it had no other.
  public var originalName: String?
  /// The rules that saves check.
  public var rules: [AttributeRule] = []
  /// Whether the history keeps the last value of a deleted object: ``HistoryChange/tombstone``.
  public var preservesValueOnDeletion = false

  /// Makes the value that a new object begins with, at its insertion, unless it was given one; nil where ``defaultValue`` is for new objects too.
  public var insertionDefault: (@Sendable () -> any AttributeType)?

  private enum CodingKeys: CodingKey { case name, kind, isOptional }

  /// - Parameters:
  ///   - name: the attribute's name.
  ///   - kind: how the values are stored.
  ///   - isOptional: whether nil is a value.
  ///   - defaultValue: what an object has that was stored before the attribute existed; `null` is the same as nil.
  ///   - originalName: the attribute's name in an earlier version of the schema; nil if it had no other.
  ///   - rules: the rules that saves check.
  ///   - preservesValueOnDeletion: whether the history keeps the last value of a deleted object.
  public init(
    name: String,
    kind: AttributeKind,
    isOptional: Bool = false,
    defaultValue: AttributeValue? = nil,
    originalName: String? = nil,
    rules: [AttributeRule] = [],
    preservesValueOnDeletion: Bool = false
  ) {
    self.preservesValueOnDeletion = preservesValueOnDeletion
    self.rules = rules
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.defaultValue = defaultValue.flatMap { $0.isNull ? nil : $0 }
    self.originalName = originalName
  }
}

extension AttributeDescription: Hashable {
  public static func == (left: AttributeDescription, right: AttributeDescription) -> Bool {
    (left.name, left.kind, left.isOptional) == (right.name, right.kind, right.isOptional)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(kind)
    hasher.combine(isOptional)
  }
}
