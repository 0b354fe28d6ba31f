import Predicates

/// An object of a store, by its entity's ordinal and its number.
struct ObjectKey: Hashable, Comparable {
  let entity: Int
  let number: ObjectNumber

  static func < (left: ObjectKey, right: ObjectKey) -> Bool {
    (left.entity, left.number) < (right.entity, right.number)
  }
}
