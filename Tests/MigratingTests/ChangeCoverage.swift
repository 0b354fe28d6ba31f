import GraphContext
import Predicates

/// How often random changes of schemas met each kind of property in entities that had objects.
struct ChangeCoverage {
  enum Kind: String, CaseIterable {
    case attribute, list, externalValue, embeddedPart, derivedNumber, derivedText, ofSubclass, toOne,
      withoutInverse, oneToMany,
      ordered, manyToMany, orderedManyToMany, ownInverse
  }

  private struct Counts {
    var kept = 0
    var added = 0
    var removed = 0
  }
  private var counts: [Kind: Counts] = [:]

  /// Notes the properties of a schema that changes, and of the schema after it.
  mutating func note(_ before: Draft, _ after: Draft, _ oracle: GraphOracle) {
    let known = Self.properties(of: before, oracle)
    let following = Self.properties(of: after, oracle)
    for (key, kinds) in following {
      for kind in kinds {
        if known[key] == nil { counts[kind, default: Counts()].added += 1 }
        if known[key]?.contains(kind) == true { counts[kind, default: Counts()].kept += 1 }
      }
    }
    for (key, kinds) in known where following[key] == nil {
      for kind in kinds { counts[kind, default: Counts()].removed += 1 }
    }
  }

  mutating func add(_ other: ChangeCoverage) {
    for (kind, more) in other.counts {
      counts[kind, default: Counts()].kept += more.kept
      counts[kind, default: Counts()].added += more.added
      counts[kind, default: Counts()].removed += more.removed
    }
  }

  /// The kinds of which no property with values continued through a change.
  var missing: [Kind] { Kind.allCases.filter { counts[$0, default: Counts()].kept == 0 } }

  /// A line for each kind.
  var table: String {
    Kind.allCases.map { kind in
      let counts = counts[kind, default: Counts()]
      return "\(kind.rawValue): \(counts.kept) kept, \(counts.added) added, \(counts.removed) removed"
    }
    .joined(separator: "\n")
  }

  private static func properties(of draft: Draft, _ oracle: GraphOracle) -> [Int: Set<Kind>] {
    var found: [Int: Set<Kind>] = [:]
    for entity in draft.entities where !oracle.numbers(of: entity.key).isEmpty {
      for property in entity.properties { found[property.key] = kinds(of: property, in: draft) }
    }
    return found
  }

  private static func kinds(of property: Draft.Property, in draft: Draft) -> Set<Kind> {
    var kinds: Set<Kind> = property.classKey == nil ? [] : [.ofSubclass]
    if let attribute = property.attribute { kinds.insert(kind(of: attribute)) }
    if let relationship = property.relationship {
      kinds.formUnion(self.kinds(of: relationship, property.key, in: draft))
    }
    return kinds
  }

  private static func kind(of attribute: Draft.Attribute) -> Kind {
    if attribute.role != nil { return .embeddedPart }
    if attribute.elementKind != nil { return .list }
    if attribute.kind.isExternal { return .externalValue }
    guard let derivation = attribute.derivation else { return .attribute }
    if case .folded = derivation { return .derivedText }
    return .derivedNumber
  }

  private static func kinds(
    of relationship: Draft.Relationship,
    _ key: Int,
    in draft: Draft
  ) -> Set<Kind> {
    var kinds: Set<Kind> = relationship.isToMany ? [] : [.toOne]
    guard let inverse = relationship.inverse else { return kinds.union([.withoutInverse]) }
    if inverse == key { kinds.insert(.ownInverse) }
    guard relationship.isToMany else { return kinds }
    let isManyToMany = draft.relationship(inverse).isToMany
    kinds.insert(isManyToMany ? .manyToMany : .oneToMany)
    if relationship.isOrdered { kinds.insert(isManyToMany ? .orderedManyToMany : .ordered) }
    return kinds
  }
}
