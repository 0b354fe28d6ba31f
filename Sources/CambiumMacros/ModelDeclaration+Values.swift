import SwiftSyntax
import SwiftSyntaxBuilder

// `Song.Values`: a struct of the attributes, the embedded values and the to-one relationships.

extension ModelDeclaration {
  static let valuesName = "Values"

  /// Returns whether the class has another declaration with the name of the values' type. It is left alone, and the
  /// class has no values.
  static func hasOwnValues(_ model: ClassDeclSyntax) -> Bool {
    model.memberBlock.members.contains { member in
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        return variable.bindings.contains { $0.pattern.trimmedDescription == valuesName }
      }
      return member.decl.asProtocol((any NamedDeclSyntax).self)?.name.text == valuesName
    }
  }

  /// The properties of the values: without externally stored ones, which may be long, and without those that the
  /// store derives from others.
  private var valued: [ModelProperty] {
    properties.filter { !$0.isToMany && !$0.attribute.isExternal && $0.attribute.derivation == nil }
  }

  /// The access that the initializer can have: no more than that of the properties that it requires.
  private var initializerAccess: AccessLevel {
    valued.filter { $0.valuesDefault == nil }.map(\.accessLevel).reduce(
      AccessLevel(witnessAccess: access),
      min
    )
  }

  /// The default argument of a parameter of the initializer.
  private func defaultArgument(_ value: String, of property: ModelProperty, at level: AccessLevel) -> String {
    if value == "nil" { return value }
    return level < .isPublic ? "Values._$initial(\(value))" : "Values._$default_\(property.name)"
  }

  /// A variable for the default argument of a public initializer. A default argument is compiled into the caller,
  /// which can't see internal declarations of this module.
  private func defaultValue(of property: ModelProperty, at level: AccessLevel) -> String? {
    guard level == .isPublic, property.accessLevel >= level, let value = property.valuesDefault,
      value != "nil"
    else {
      return nil
    }
    return
      "@usableFromInline static var _$default_\(property.name): \(property.valuesType) { Values._$initial(\(value)) }"
  }

  /// The declaration of the type. It is `Sendable` unchecked, so that a type which can't be stored causes only one
  /// error, that of the getter: every type that can be stored is `Sendable`.
  var values: DeclSyntax {
    let properties = valued
    let base = ValuesBase(superclass: inheritance?.superclass)
    let variables = properties.map { "\($0.accessModifiers)var \($0.identifier): \($0.valuesType)" }
    let level = initializerAccess
    let parameters = properties.filter { $0.accessLevel >= level }.map { property in
      ", \(property.identifier): \(property.valuesType)"
        + (property.valuesDefault.map { " = \(defaultArgument($0, of: property, at: level))" } ?? "")
    }
    let defaults = properties.compactMap { defaultValue(of: $0, at: level) }
    let assignments = properties.map { property in
      let value =
        property.accessLevel >= level
        ? property.identifier : "Values._$initial(\(property.valuesDefault ?? "nil"))"
      return "self.\(property.identifier) = \(value)"
    }
    // A property may have the name of a parameter.
    let readings = properties.map { "self.\($0.identifier) = \($0.valuesReading)" }
    let visits = properties.map {
      "visitor.visit(\($0.valuesLabel): \($0.wrapped("self.\($0.identifier)")))"
    }
    // Safety: the values are attributes and IDs, all of `Sendable` types.
    let conformances = "GraphContext.ModelValues, @unchecked Sendable"
    return """
      \(raw: base.attribute)nonisolated \(raw: access)struct \(raw: Self.valuesName): \(raw: conformances) {
        \(raw: access)typealias _$Model = \(raw: name)
        \(raw: access)static let _$names: [String] = \(raw: base.names + Self.names(of: properties))
        \(raw: (base.members(access) + variables + defaults).joined(separator: "\n  "))

        \(raw: level.modifier)init(\(raw: base.parameter)\(raw: parameters.joined())) {
          \(raw: ([base.assignment] + assignments).joined(separator: "\n    "))
        }
        \(raw: access)init<_Reader: GraphContext.ValuesReader>(_$from reader: inout _Reader) throws(_Reader.Failure) {
          \(raw: ([base.reading] + readings).joined(separator: "\n    "))
        }
        \(raw: access)func _$visit<_Visitor: GraphContext.ValuesVisitor>(_ visitor: inout _Visitor) {
          \(raw: (base.visits + visits).joined(separator: "\n    "))
        }
      }
      """
  }
}

/// The first part of the declaration of `Values`: the object's ID, or in a subclass the values of its superclass,
/// which contain the ID.
private struct ValuesBase {
  /// Nil for a class without one.
  let superclass: String?

  private var type: String? { superclass.map { "\($0).\(ModelDeclaration.valuesName)" } }

  var attribute: String { type == nil ? "" : "@dynamicMemberLookup " }
  var names: String { type.map { "\($0)._$names + " } ?? "" }
  var parameter: String {
    type.map { "_ superclassValues: \($0)" } ?? "objectID: GraphContext.ManagedObjectID? = nil"
  }
  var assignment: String {
    type == nil ? "self.objectID = objectID" : "self.superclassValues = superclassValues"
  }
  var reading: String {
    type.map { "self.superclassValues = try \($0)(_$from: &reader)" }
      ?? "self.objectID = try reader.objectID()"
  }
  var visits: [String] { type == nil ? [] : ["superclassValues._$visit(&visitor)"] }

  func members(_ access: String) -> [String] {
    guard let type else { return ["\(access)var objectID: GraphContext.ManagedObjectID?"] }
    return [
      "\(access)var superclassValues: \(type)",
      "\(access)var objectID: GraphContext.ManagedObjectID? { get { superclassValues.objectID } set { superclassValues.objectID = newValue } }",
      "\(access)subscript<_Member>(dynamicMember path: Swift.KeyPath<\(type), _Member>) -> _Member { superclassValues[keyPath: path] }",
      "\(access)subscript<_Member>(dynamicMember path: Swift.WritableKeyPath<\(type), _Member>) -> _Member { get { superclassValues[keyPath: path] } set { superclassValues[keyPath: path] = newValue } }",
    ]
  }
}

extension ModelDeclaration {
  /// The expression of the names of the values. Only the type of an embedded value knows how many parts it has.
  private static func names(of properties: [ModelProperty]) -> String {
    let names = properties.map { property in
      property.isEmbedded
        ? "Values._$names(of: \(property.type.trimmedDescription).self, in: \"\(property.name)\")"
        : "\"\(property.name)\""
    }
    guard properties.contains(where: \.isEmbedded) else { return "[\(names.joined(separator: ", "))]" }
    let lists = zip(properties, names).map { $0.isEmbedded ? $1 : "[\($1)]" }
    return "[\(lists.joined(separator: ", "))].flatMap { $0 }"
  }
}

extension ModelProperty {
  /// The argument label of the `visit` method that takes the value.
  fileprivate var valuesLabel: String {
    switch kind {
    case .attribute: "attribute"
    case .embedded: "embedded"
    case .toOne, .toMany, .requiredToOne: "toOne"
    }
  }

  fileprivate var valuesType: String {
    switch kind {
    case .attribute, .embedded: type.trimmedDescription
    case .toOne, .toMany: "GraphContext.ManagedObjectID?"
    case .requiredToOne: "GraphContext.ManagedObjectID"
    }
  }

  /// The expression that reads the value.
  fileprivate var valuesReading: String {
    switch kind {
    case .embedded: "try reader.embedded()"
    case .attribute:
      attribute.transformation == nil
        ? "try reader.attribute()" : "(try reader.attribute() as \(attributeType))\(unwrapping)"
    case .toOne, .toMany: "try reader.toOne()"
    case .requiredToOne: "try reader.requiredToOne()"
    }
  }

  /// The value that the initializer takes if none is given; nil where it must be given.
  fileprivate var valuesDefault: String? {
    switch kind {
    case .attribute:
      defaultValue?.text ?? attribute.perInsert.map { "(\($0))()" }
        ?? (type.is(OptionalTypeSyntax.self) && !hasOtherInitialValue ? "nil" : nil)
    case .embedded:
      defaultValue?.text ?? (type.is(OptionalTypeSyntax.self) && !hasOtherInitialValue ? "nil" : nil)
    case .toOne, .toMany: "nil"
    case .requiredToOne: nil
    }
  }
}

/// The access level of a declaration.
enum AccessLevel: Int, Comparable {
  case isPrivate, isFileprivate, isInternal, isPackage, isPublic

  /// - Parameter access: `DeclGroupSyntax.witnessAccess`.
  init(witnessAccess access: String) {
    self = access == "public " ? .isPublic : access == "package " ? .isPackage : .isInternal
  }

  /// Nil for a modifier that is none of access.
  init?(_ modifier: DeclModifierSyntax) {
    switch modifier.name.text {
    case "private": self = .isPrivate
    case "fileprivate": self = .isFileprivate
    case "internal": self = .isInternal
    case "package": self = .isPackage
    case "public", "open": self = .isPublic
    default: return nil
    }
  }

  /// The modifier, with a space after it; nothing for `internal`.
  var modifier: String {
    switch self {
    case .isPrivate: "private "
    case .isFileprivate: "fileprivate "
    case .isInternal: ""
    case .isPackage: "package "
    case .isPublic: "public "
    }
  }

  static func < (left: AccessLevel, right: AccessLevel) -> Bool { left.rawValue < right.rawValue }
}

extension DeclModifierListSyntax {
  /// The access that is written; `internal` where none is.
  var accessLevel: AccessLevel {
    lazy.filter { $0.detail == nil }.compactMap(AccessLevel.init).first ?? .isInternal
  }

  /// The access of setters, where the declaration gives another one. A private one becomes `fileprivate`, so that
  /// the class itself can set the property of its values.
  var setterAccessLevel: AccessLevel? {
    lazy.filter { $0.detail?.detail.text == "set" }.compactMap(AccessLevel.init).first.map {
      Swift.max($0, .isFileprivate)
    }
  }
}
