/// The parts of a bracket, in which the comparisons of one calculated value with several literals are one part: so the
/// value of `lowercase(name) IN {…}` is calculated once, and not for each literal.
struct GatheredParts {
  /// The calculated value, and its literals.
  struct List {
    let operand: ResolvedExpression
    let literals: LiteralSet
    /// True if the value has to equal none of them.
    let isNegated: Bool
  }

  private struct Key: Hashable {
    let operand: ResolvedExpression
    let folding: StringOptions
  }

  /// The parts. The first part of each list is among them, and the others of the list are not.
  private(set) var parts: [NormalPredicate] = []
  private var lists: [NormalPredicate: List] = [:]

  /// - Parameters:
  ///   - children: the parts of the bracket.
  ///   - isNegated: false for any of the parts, of which equalities are gathered; true for all of them, of which the
  ///     complements of equalities are.
  init(_ children: [NormalPredicate], isNegated: Bool) {
    var groups: [(part: NormalPredicate, key: Key, literals: [AttributeValue])] = []
    var places: [Key: Int] = [:]
    for child in children {
      guard case .test(let test, let isComplement) = child, isComplement == isNegated,
        case .compareValues(let operand, .equal, .literal(let literal), let options) = test
      else {
        parts.append(child)
        continue
      }
      let key = Key(operand: operand, folding: options.folding)
      if let place = places[key] {
        groups[place].literals.append(literal)
      } else {
        places[key] = groups.count
        groups.append((child, key, [literal]))
        parts.append(child)
      }
    }
    for group in groups where group.literals.count > 1 {
      let literals = LiteralSet(group.literals, folding: group.key.folding)
      lists[group.part] = List(operand: group.key.operand, literals: literals, isNegated: isNegated)
    }
  }

  /// Returns the list of which a part is the first; nil for a part without a list.
  func list(for part: NormalPredicate) -> List? { lists.isEmpty ? nil : lists[part] }
}
