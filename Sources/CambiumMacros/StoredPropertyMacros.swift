import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

// The accessors of a model's properties, and the caches behind them. `@Model` attaches these with the slot as argument.

enum StoredAttributeMacro: AccessorMacro, PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let (name, slot) = StoredProperty.nameAndPlace(declaration, node) else { return [] }
    let property = StoredProperty.property(declaration)
    let wrapped = property?.wrapped("newValue") ?? "newValue"
    let unwrapping = property?.unwrapping ?? ""
    // An initializer needn't set a property whose value the insertion or the store makes.
    let initializer: AccessorDeclSyntax? =
      property?.isMadeLater != true
      ? """
      @storageRestrictions(initializes: _\(raw: name))
      init(newValue) {
        _\(raw: name) = GraphContext.Cached(\(raw: wrapped))
      }
      """ : nil
    let setter: AccessorDeclSyntax? =
      property?.attribute.derivation == nil
      ? """
      set {
        _$willSet(\(raw: slot))
        _\(raw: name) = GraphContext.Cached(\(raw: wrapped))
      }
      """ : nil
    let getter: AccessorDeclSyntax =
      """
      get {
        if _$state.isFast(\(raw: slot)) {
          return _\(raw: name).value\(raw: unwrapping)
        }
        _$awake()
        return _$load(\(raw: slot), &_\(raw: name))\(raw: unwrapping)
      }
      """
    return [initializer, getter, setter].compactMap(\.self)
  }

  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    StoredProperty.cache(declaration)
  }
}

enum StoredToOneMacro: AccessorMacro, PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let (name, slot) = StoredProperty.nameAndPlace(declaration, node),
      let property = StoredProperty.property(declaration)
    else { return [] }
    let (type, cache) =
      property.relationship.isOrdered
      ? ("OrderedReference", "_\(name).reference") : ("ToOneReference", "_\(name)")
    let function = if case .requiredToOne = property.kind { "_$requiredToOne" } else { "_$toOne" }
    return [
      """
      @storageRestrictions(initializes: _\(raw: name))
      init(newValue) {
        _\(raw: name) = GraphContext.\(raw: type)(newValue)
      }
      """,
      """
      get {
        _$awake()
        return \(raw: function)(\(raw: slot), &\(raw: cache))
      }
      """,
      """
      set {
        _$willSetToOne(newValue)
        let change = _$setToOne(\(raw: slot), &\(raw: cache), newValue)
        _$didSetToOne(\(raw: slot), change)
      }
      """,
    ]
  }

  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    StoredProperty.cache(declaration)
  }
}

enum StoredToManyMacro: AccessorMacro, PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let (name, ordinal) = StoredProperty.nameAndPlace(declaration, node),
      let property = StoredProperty.property(declaration)
    else { return [] }
    return [
      """
      @storageRestrictions(initializes: _\(raw: name))
      init(newValue) {
        _\(raw: name) = GraphContext.ToManyMembers(newValue)
      }
      """,
      """
      get {
        _$awake()
        return _$toMany(\(raw: ordinal), &_\(raw: name))
      }
      """,
      """
      set {
        _\(raw: name) = _$putToMany(\(raw: ordinal), newValue, isWhole: true)
        _$didPutToMany()
      }
      """,
      """
      _modify {
        _$awake()
        var members: \(property.type) = _$takeToMany(\(raw: ordinal), &_\(raw: name))
        defer {
          _\(raw: name) = _$putToMany(\(raw: ordinal), members)
          _$didPutToMany()
        }
        yield &members
      }
      """,
    ]
  }

  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    StoredProperty.cache(declaration)
  }
}

enum StoredEmbeddedMacro: AccessorMacro, PeerMacro, WrittenMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let (name, ordinal) = StoredProperty.nameAndPlace(declaration, node) else { return [] }
    return [
      """
      @storageRestrictions(initializes: _\(raw: name))
      init(newValue) {
        _\(raw: name) = GraphContext.EmbeddedCache(newValue)
      }
      """,
      """
      get {
        _$awake()
        return _$embedded(\(raw: ordinal), &_\(raw: name))
      }
      """,
      """
      set {
        _$awake()
        let change = _$willSetEmbedded(\(raw: ordinal), &_\(raw: name), newValue)
        _$didSetEmbedded(change)
        _\(raw: name) = GraphContext.EmbeddedCache(newValue)
      }
      """,
    ]
  }

  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    StoredProperty.cache(declaration)
  }
}

private enum StoredProperty {
  /// The property's name, and its slot or ordinal as written in the attribute.
  static func nameAndPlace(
    _ declaration: some DeclSyntaxProtocol,
    _ node: AttributeSyntax
  ) -> (String, String)? {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
      let place = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression.trimmedDescription
    else { return nil }
    guard let className = node.argument(labeled: "of")?.as(StringLiteralExprSyntax.self) else {
      return (name, place)
    }
    let own = "\(className.representedLiteralValue ?? "Self")._$own"
    return switch property(declaration)?.kind {
    case .toMany: (name, "\(own).ordinal(\(place))")
    case .embedded: (name, "\(own).embedded(\(place))")
    default: (name, "\(own)[\(place)]")
    }
  }

  /// Without diagnostics: `@Model` gave them.
  static func property(_ declaration: some DeclSyntaxProtocol) -> ModelProperty? {
    guard let variable = declaration.as(VariableDeclSyntax.self) else { return nil }
    var ignored: [Diagnostic] = []
    return ModelProperty(variable, diagnostics: &ignored)
  }

  static func cache(_ declaration: some DeclSyntaxProtocol) -> [DeclSyntax] {
    guard let property = property(declaration) else { return [] }
    return (property.transformer.map { [$0] } ?? []) + [
      "@exclusivity(unchecked) nonisolated private final var _\(raw: property.name): GraphContext.\(raw: property.cacheType)\(raw: property.isMadeLater ? " = .init()" : "")"
    ]
  }
}
