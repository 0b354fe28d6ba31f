import Foundation
import Predicates

/// A derived attribute, resolved: the slot of its value, and the values that it is computed from.
struct StoredDerivation: Sendable {
  let slot: Int
  /// The kind in which the value is stored.
  let kind: AttributeKind
  let source: Source

  enum Source: Sendable {
    /// A string of the object itself, folded.
    case folded(slot: Int, StringOptions)
    case aggregate(StoredAggregate)
  }

  var aggregate: StoredAggregate? { if case .aggregate(let aggregate) = source { aggregate } else { nil } }

  /// The value of an object without members.
  var emptyValue: AttributeValue {
    guard let aggregate, aggregate.isTotal else { return .null }
    switch kind {
    case .double: return .double(0)
    case .decimal: return .decimal(0)
    default: return .int(0)
    }
  }
}

/// An aggregate that is computed from the members of a to-many relationship.
struct StoredAggregate: Sendable {
  /// The position of the relationship among the entity's to-many relationships.
  let position: Int
  let relationship: StoredToMany
  /// The aggregated value; nil for the count of the members.
  let value: Value?

  struct Value: Sendable {
    let function: AttributeDerivation.Function
    /// The slot of the attribute in the members' records.
    let slot: Int
    let kind: AttributeKind
  }

  /// True if the aggregate is a number for an object without members, too.
  var isTotal: Bool { value.map { $0.function == .sum } ?? true }
}

/// A derived attribute, seen from the members of the relationship that it is an aggregate over.
struct MemberDerivation: Sendable {
  /// Ordinal of the entity with the derived attribute.
  let owner: Int
  let derivation: StoredDerivation
  let value: StoredAggregate.Value?
  let storage: StoredToMany.Storage
}

extension ResolvedSchemaBuilder {
  /// Returns the derived attributes of an entity.
  func derivations(of entity: EntityNames, _ toManys: [StoredToMany]) -> [StoredDerivation] {
    entity.storedProperties.enumerated().compactMap { slot, property in
      guard let attribute = property.attribute, let form = attribute.derivation?.form,
        let source = source(of: form, entity, toManys)
      else { return nil }
      return StoredDerivation(slot: slot, kind: attribute.kind, source: source)
    }
  }

  /// Returns the source of the values of a form; nil for a form that a schema refuses.
  private func source(
    of form: AttributeDerivation.Form,
    _ entity: EntityNames,
    _ toManys: [StoredToMany]
  ) -> StoredDerivation.Source? {
    if case .folded(let name, let folding) = form {
      return entity.slot(named: name).map { .folded(slot: $0, folding.stringOptions) }
    }
    guard let position = form.relationship.flatMap(entity.toManyPlace) else { return nil }
    let relationship = toManys[position]
    guard case .aggregate(let function, _, let name) = form else {
      return .aggregate(StoredAggregate(position: position, relationship: relationship, value: nil))
    }
    let members = names.entities[relationship.destination]
    guard let slot = members.slot(named: name) else { return nil }
    let value = StoredAggregate.Value(
      function: function,
      slot: slot,
      kind: members.storedProperties[slot].storedKind
    )
    return .aggregate(StoredAggregate(position: position, relationship: relationship, value: value))
  }
}

extension ResolvedSchema {
  /// Returns the trees from which the derived values of an entity are computed: those of links, and those of
  /// members.
  func memberTrees(of entity: StoredEntity) -> Set<String> {
    Set(
      entity.derivations.compactMap(\.aggregate).flatMap { aggregate in
        [aggregate.relationship.links.treeName, entities[aggregate.relationship.destination].treeName]
      }
    )
  }

  /// Returns the derived attributes that the objects of each entity take part in, by the entity's ordinal.
  static func memberDerivations(_ entities: [StoredEntity]) -> [[MemberDerivation]] {
    var derivations: [[MemberDerivation]] = entities.map { _ in [] }
    for entity in entities {
      for derivation in entity.derivations {
        guard let aggregate = derivation.aggregate else { continue }
        derivations[aggregate.relationship.destination].append(
          MemberDerivation(
            owner: entity.ordinal,
            derivation: derivation,
            value: aggregate.value,
            storage: aggregate.relationship.storage
          )
        )
      }
    }
    return derivations
  }
}
