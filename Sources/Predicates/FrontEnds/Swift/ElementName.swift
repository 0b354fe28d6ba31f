/// Names for the elements that closures receive: a different one for each nested closure.
enum ElementName {
  @TaskLocal private static var depth = 0

  static func with<R>(_ body: (String) -> R) -> R {
    $depth.withValue(depth + 1) { body(name(at: depth)) }
  }

  fileprivate static func name(at depth: Int) -> String { "e\(depth)" }

  /// Returns the number of nested closures at which an element has the name; nil for a name from a text.
  fileprivate static func number(of name: String) -> Int? {
    name.hasPrefix("e") ? Int(name.dropFirst()) : nil
  }
}

extension PredicateCollection.Filter {
  /// Returns the filter that a closure would have made if its element had another name. The names of elements
  /// inside of the condition change as well, so that they differ from the new one.
  func renamed(to name: String) -> PredicateCollection.Filter {
    guard name != variable, let old = ElementName.number(of: variable), let new = ElementName.number(of: name)
    else { return self }
    return ElementRenaming(shift: new - old).renamed(self)
  }
}

/// Gives the variables that a filter declares the names that they have at another depth. Variables of enclosing
/// closures keep theirs.
private struct ElementRenaming {
  let shift: Int
  /// The new names of the variables that are declared around a part of the filter.
  private var names: [String: String] = [:]

  init(shift: Int) { self.shift = shift }

  func renamed(_ filter: PredicateCollection.Filter) -> PredicateCollection.Filter {
    let name = ElementName.number(of: filter.variable).map { ElementName.name(at: $0 + shift) }
    var inner = self
    inner.names[filter.variable] = name
    return .init(variable: name ?? filter.variable, condition: inner.renamed(filter.condition))
  }

  private func renamed(_ tree: PredicateTree) -> PredicateTree {
    switch tree {
    case .constant: tree
    case .comparison(let left, let comparison, let right, let options):
      .comparison(renamed(left), comparison, renamed(right), options)
    case .membership(let operand, let elements, let options):
      .membership(renamed(operand), elements.map(renamed), options)
    case .between(let operand, let lower, let upper):
      .between(renamed(operand), renamed(lower), renamed(upper))
    case .quantified(let quantifier, let child): .quantified(quantifier, renamed(child))
    case .not(let child): .not(renamed(child))
    case .and(let children): .and(children.map(renamed))
    case .or(let children): .or(children.map(renamed))
    }
  }

  private func renamed(_ operand: PredicateOperand) -> PredicateOperand {
    var result = operand
    switch operand.content {
    case .path, .object, .value, .digits, .reference: break
    case .variable(let name, let path): result.content = .variable(names[name] ?? name, path)
    case .function(let function, let arguments):
      result.content = .function(function, arguments.map(renamed))
    case .conditional(let condition, let first, let second):
      result.content = .conditional(renamed(condition), renamed(first), renamed(second))
    case .collection(let collection): result.content = .collection(renamed(collection))
    case .aggregate(let aggregate, let collection):
      result.content = .aggregate(aggregate, renamed(collection))
    }
    return result
  }

  private func renamed(_ collection: PredicateCollection) -> PredicateCollection {
    var result = collection
    result.variable = collection.variable.map { names[$0] ?? $0 }
    result.filter = collection.filter.map(renamed)
    return result
  }
}
