import Predicates

// The problems of derived attributes.

extension Schema {
  static func derivationProblems(of entity: EntityDescription, _ names: SchemaNames) -> [String] {
    entity.attributes.flatMap { attribute in
      guard let derivation = attribute.derivation else { return [String]() }
      let checked = CheckedDerivation(attribute, derivation, of: entity, names)
      return (checked.problem.map { [$0] } ?? []) + checked.contradictions
    }
  }
}

/// One derived attribute, as its entity declares it.
private struct CheckedDerivation {
  private let attribute: AttributeDescription
  private let derivation: AttributeDerivation
  private let entity: EntityDescription
  private let names: SchemaNames
  private let name: String

  init(
    _ attribute: AttributeDescription,
    _ derivation: AttributeDerivation,
    of entity: EntityDescription,
    _ names: SchemaNames
  ) {
    self.attribute = attribute
    self.derivation = derivation
    self.entity = entity
    self.names = names
    name = "\(entity.name).\(attribute.name)"
  }

  /// The reason why the attribute can't have the rule; nil if it can.
  var problem: String? { problemOfRule ?? problemOfClass }

  /// The reason why objects of the class that declares the attribute lack the property it is made from; nil if they
  /// have it.
  private var problemOfClass: String? {
    guard let source = derivation.form?.ownProperty, let member = entity.declaringClass(of: attribute.name),
      let owner = entity.declaringClass(of: source), !entity.isClass(member, oneOf: owner)
    else { return nil }
    return "\(member.name).\(attribute.name) is derived from \(source), which is a property of \(owner.name)"
  }

  /// Returns true if an object of the class that declares an attribute of the entity can lack a value. In the entity
  /// the attributes of subclasses are all optional.
  private func isOptional(_ attribute: AttributeDescription) -> Bool {
    attribute.isOptional && !entity.isRequiredOfSomeClass(attribute.name)
  }

  private var problemOfRule: String? {
    switch derivation.form {
    case .count(let relationship):
      if case .failure(let problem) = members(of: relationship) { return problem.text }
      return attribute.kind.isInteger && !isOptional(attribute)
        ? nil : "\(name) is a count: it must be an integer, and not optional"
    case .aggregate(let function, let relationship, let source):
      switch members(of: relationship) {
      case .failure(let problem): return problem.text
      case .success(let destination): return problem(of: function, source, of: destination)
      }
    case .folded(let source, _): return problemOfFolding(source)
    case nil:
      return
        "\(name) can't be derived from “\(derivation.text)”: a rule is like songs.@count, songs.@sum.seconds or title[cd]"
    }
  }

  /// The options of the attribute that have no meaning for a derived one.
  var contradictions: [String] {
    var problems: [String] = []
    if !attribute.rules.isEmpty { problems.append("\(name) is derived, and can't have rules") }
    if attribute.defaultValue != nil { problems.append("\(name) is derived, and can't have a default") }
    if entity.indexes.contains(where: { $0.isUnique && $0.properties.contains(attribute.name) }) {
      problems.append("\(name) is derived, and can't be unique; an index with a folding can be")
    }
    return problems
  }

  private struct Problem: Error { let text: String }

  /// Returns the entity that a to-many relationship leads to.
  private func members(of relationship: String) -> Result<EntityNames, Problem> {
    guard case .relationship(let found)? = names.entity(named: entity.name)?.property(named: relationship),
      found.isToMany
    else {
      return .failure(
        Problem(
          text: "\(name) is derived from \(relationship), which is no to-many relationship of \(entity.name)"
        )
      )
    }
    guard let destination = names.entity(named: found.destination) else {
      return .failure(Problem(text: "\(name) is derived from \(relationship), which leads to no model"))
    }
    return .success(destination)
  }

  private func source(_ source: String, of entity: EntityNames) -> Result<AttributeDescription, Problem> {
    let path = "\(entity.description.name).\(source)"
    guard let found = entity.property(named: source)?.attribute, found.kind != .place else {
      return .failure(Problem(text: "\(name) is derived from \(path), which is no attribute"))
    }
    if found.derivation != nil {
      return .failure(Problem(text: "\(name) is derived from \(path), which is derived itself"))
    }
    return .success(found)
  }

  private func problem(
    of function: AttributeDerivation.Function,
    _ source: String,
    of destination: EntityNames
  ) -> String? {
    switch self.source(source, of: destination) {
    case .failure(let problem): problem.text
    case .success(let found):
      function == .sum ? problemOfSum(found, derivation.text) : problemOfExtreme(found, derivation.text)
    }
  }

  private func problemOfSum(_ source: AttributeDescription, _ path: String) -> String? {
    let kinds: (Bool, String)
    switch source.kind {
    case .float, .double: kinds = (attribute.kind == .double, "a double")
    case .decimal: kinds = (attribute.kind == .decimal, "a decimal")
    default:
      guard source.kind.isInteger else {
        return "\(name) can't be \(path): \(source.typeText) has no sum"
      }
      kinds = (attribute.kind.isInteger, "an integer")
    }
    return kinds.0 && !isOptional(attribute)
      ? nil : "\(name) is a sum: it must be \(kinds.1), and not optional"
  }

  private func problemOfExtreme(_ source: AttributeDescription, _ path: String) -> String? {
    guard source.kind.isComparable, source.elementKind == nil else {
      return "\(name) can't be \(path): values of the kind \(source.typeText) aren't compared"
    }
    return attribute.kind == source.kind && isOptional(attribute)
      ? nil : "\(name) is \(path): it must be \(source.typeText), and optional for an object without members"
  }

  private func problemOfFolding(_ source: String) -> String? {
    guard let own = names.entity(named: entity.name) else { return nil }
    switch self.source(source, of: own) {
    case .failure(let problem): return problem.text
    case .success(let found):
      guard found.kind == .string else {
        return
          "\(name) can't be \(derivation.text): \(source) is \(found.typeText), and only strings are folded"
      }
      return attribute.kind == .string && isOptional(attribute) == isOptional(found)
        ? nil : "\(name) is \(derivation.text): it must be a string, and optional exactly if \(source) is"
    }
  }
}
