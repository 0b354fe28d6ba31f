import Foundation
import Predicates

@testable import GraphContext

extension PlainSave {
  /// Computes every derived value of an entity anew.
  mutating func derive(_ entity: StoredEntity) {
    for number in store.rows[entity.ordinal].keys {
      for derivation in entity.derivations {
        let value = value(of: derivation, number, entity)
        if store.rows[entity.ordinal][number]?.values[derivation.slot] != value {
          store.rows[entity.ordinal][number]?.values[derivation.slot] = value
        }
      }
    }
  }

  private func value(
    of derivation: StoredDerivation,
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) -> AttributeValue {
    switch derivation.source {
    case .folded(let slot, let options):
      return store.row(number, of: entity.ordinal)?.values[slot].folded(by: options) ?? .null
    case .aggregate(let aggregate):
      let members = store.elements(of: number, in: aggregate.relationship.links)
      guard let value = aggregate.value else { return .int(Int64(members.count)) }
      let rows = store.rows[aggregate.relationship.destination]
      let values = members.compactMap { rows[$0]?.values[value.slot] }.filter { !$0.isNull }
        .sorted { ValueComparison.sortOrder($0, $1) < 0 }
      switch value.function {
      case .sum: return PlainAggregate.sum(values, of: value.kind)
      case .min: return values.first ?? .null
      case .max: return values.last ?? .null
      }
    }
  }
}
