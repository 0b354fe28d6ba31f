import SwiftSyntax

/// The type of a property, as far as its spelling shows it. A macro sees only the spelling.
enum PropertyType {
  /// Names of types that hold many elements and stand for a relationship if the elements are models.
  private static let collections: Set<String> = ["Array", "Set", "ToMany", "OrderedToMany"]
  /// Names of types that are surely no models.
  private static let valueTypes: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float",
    "Double",
    "String", "Data", "Date", "UUID", "URL", "Decimal",
  ]

  /// Unsupported types that are often tried, and their substitutes.
  private static let substitutes = [
    "Any": "an attribute has one concrete type",
    "AnyObject": "an attribute has one concrete type",
    "CGFloat": "use 'Double'",
    "Character": "use 'String'",
    "Dictionary": "make its entries a model, or use a 'CodableAttribute' struct instead",
    "Float16": "use 'Float'",
    "Int128": "use 'Int64', 'Decimal' or 'Data'",
    "Substring": "use 'String'",
    "UInt128": "use 'UInt64', 'Decimal' or 'Data'",
  ]

  /// A type that stands for one value or one object.
  case single(TypeSyntax)
  /// The same, or nil.
  case optional(TypeSyntax)
  /// An array, a set, a `ToMany` or an `OrderedToMany` of elements, which are models or values.
  case many(TypeSyntax)
  /// An array or set of elements that are surely no models, or nil.
  case values
  /// The same, or nil.
  case optionalMany
  /// An array or set of bytes, or nil.
  case bytes
  /// A type that can be neither an attribute nor a relationship, and what to do about it.
  case unsupported(String)

  /// The name of the value's type, where it is surely one; nil for lists.
  var valueName: String? {
    switch self {
    case .single(let type), .optional(let type):
      type.as(IdentifierTypeSyntax.self).map(\.name.text).flatMap { Self.valueTypes.contains($0) ? $0 : nil }
    default: nil
    }
  }

  /// The name of the model that a relationship of this type leads to.
  var target: String? {
    switch self {
    case .single(let type), .optional(let type), .many(let type):
      type.as(IdentifierTypeSyntax.self)?.name.text ?? type.as(MemberTypeSyntax.self)?.name.text
    default: nil
    }
  }

  /// True if the type stands for any number of values or objects.
  var isCollection: Bool {
    switch self {
    case .many, .values, .optionalMany, .bytes: true
    case .single, .optional, .unsupported: false
    }
  }

  init(_ type: TypeSyntax) {
    if let wrapped = Self.wrapped(type) {
      switch PropertyType(wrapped) {
      case .single(let type): self = .optional(type)
      case .many: self = .optionalMany
      case .values: self = .values
      case .optional: self = .unsupported("nil in nil would be lost; one '?' is enough")
      case let other: self = other
      }
      return
    }
    self = Self.element(of: type).map(Self.collection) ?? Self.simple(type)
  }

  /// True if the type is spelled as one of records, of one or of many.
  var isOfRecords: Bool {
    switch self {
    case .single(let target), .optional(let target), .many(let target):
      let name =
        target.as(IdentifierTypeSyntax.self)?.name ?? target.as(MemberTypeSyntax.self)?.name
      return name?.text == "ManagedRecord"
    case .values, .optionalMany, .bytes, .unsupported: return false
    }
  }

  /// Returns the `T` of `T?` or `Optional<T>`.
  private static func wrapped(_ type: TypeSyntax) -> TypeSyntax? {
    if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
    guard let generic = GenericSpelling(type), generic.name == "Optional" else { return nil }
    return generic.argument
  }

  /// Returns the `T` of `[T]`, `Array<T>`, `Set<T>`, `ToMany<T>` or `OrderedToMany<T>`.
  private static func element(of type: TypeSyntax) -> TypeSyntax? {
    if let array = type.as(ArrayTypeSyntax.self) { return array.element.trimmed }
    guard let generic = GenericSpelling(type), collections.contains(generic.name) else { return nil }
    return generic.argument
  }

  private static func collection(of element: TypeSyntax) -> PropertyType {
    guard let name = element.as(IdentifierTypeSyntax.self)?.name.text else {
      return element.is(MemberTypeSyntax.self) ? .many(element) : .values
    }
    if name == "UInt8" { return .bytes }
    if let substitute = substitutes[name] { return .unsupported(substitute) }
    return valueTypes.contains(name) ? .values : .many(element)
  }

  private static func simple(_ type: TypeSyntax) -> PropertyType {
    if let name = type.as(IdentifierTypeSyntax.self)?.name.text, let substitute = substitutes[name] {
      return .unsupported(substitute)
    }
    return switch type.kind {
    case .identifierType, .memberType: .single(type)
    case .implicitlyUnwrappedOptionalType: .unsupported("write '?' instead of '!'")
    case .dictionaryType: .unsupported("make its entries a model, or use a 'CodableAttribute' struct instead")
    case .tupleType:
      .unsupported("give each element an attribute of its own, or use a 'CodableAttribute' struct instead")
    case .functionType: .unsupported("a function is no value")
    case .someOrAnyType, .compositionType: .unsupported("an attribute has one concrete type")
    default: .unsupported("it is neither a type of attribute nor a model")
    }
  }
}

/// A generic type of this library or of Swift's with its one argument, `Set<Song>`, also where its module is
/// spelled: `Swift.Set<Song>`.
private struct GenericSpelling {
  let name: String
  let argument: TypeSyntax

  /// Nil for any other type.
  init?(_ type: TypeSyntax) {
    let clause: GenericArgumentClauseSyntax?
    if let plain = type.as(IdentifierTypeSyntax.self) {
      (name, clause) = (plain.name.text, plain.genericArgumentClause)
    } else if let member = type.as(MemberTypeSyntax.self),
      let module = member.baseType.as(IdentifierTypeSyntax.self)?.name.text,
      ["Swift", "GraphContext", "Cambium"].contains(module)
    {
      (name, clause) = (member.name.text, member.genericArgumentClause)
    } else {
      return nil
    }
    guard let arguments = clause?.arguments, arguments.count == 1,
      case .type(let argument)? = arguments.first?.argument
    else { return nil }
    self.argument = argument.trimmed
  }
}
