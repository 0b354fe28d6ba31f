import Predicates

/// The rule of a save for a new object that has a unique value of an existing object. The existing object is in the
/// store, or was inserted earlier in the same save.
///
/// With each policy but ``error`` the save unifies the new object with the existing one: the new one is not stored.
/// References and links that led to it lead to the existing object, whose ID stays as it is; the new object leaves the
/// context as a deleted one does. ``ManagedObjectContext/aliases`` has both IDs. An existing object that gets other
/// values is validated. The save calls its `validateForUpdate` with those values, in a context that only reads and
/// outside of the writer's turn; `validateForInsert` if the same save inserts it.
///
/// A model declares the policy of a constraint, `@Attribute(.unique(ifExists: .merge))` or
/// `#Unique<Song>([\.album, \.track], ifExists: .keep)`, and ``ManagedObjectContext/save(ifExists:durability:)``
/// replaces it for one save. The policy belongs to the program, and is not stored.
///
/// A policy applies to new objects. Two stored objects that are given the same value are refused under each policy, and
/// so is a new object that has unique values of two existing ones.
public enum UniquePolicy: String, Sendable, Hashable, CaseIterable {
  /// The save throws `notUnique`.
  case error
  /// The existing object keeps its values.
  case keep
  /// The existing object gets all attributes and to-one relationships of the new one, nil and defaults included.
  case replace
  /// The existing object gets the values of the new one that are neither nil nor the default of their attribute. It
  /// gets all parts of an embedded value if one of them is such a value. It keeps its value of an attribute whose first
  /// value differs from object to object (`= UUID()`, `.perInsert`).
  case merge
}

/// The policies of a save, by constraint.
struct UniquePolicies {
  /// The policy for every constraint; nil for those that the constraints declare.
  private let override: UniquePolicy?
  private let declared: [[UniquePolicy]]
  /// True if some new objects with existing values are unified; false if all of them are refused.
  let unifiesAny: Bool

  init(_ coordinator: StoreCoordinator, _ override: UniquePolicy?) {
    self.override = override
    declared = coordinator.models.uniquePolicies
    unifiesAny = override.map { $0 != .error } ?? coordinator.models.unifiesObjects
  }

  /// Returns the unique indexes of an entity whose policy isn't ``UniquePolicy/error``, by their positions among the
  /// declared ones.
  func unifying(_ entity: StoredEntity) -> [(place: Int, policy: UniquePolicy)] {
    entity.declaredIndexes.indices.compactMap { place in
      let policy = override ?? declared[entity.ordinal][place]
      return entity.declaredIndexes[place].isUnique && policy != .error ? (place, policy) : nil
    }
  }
}
