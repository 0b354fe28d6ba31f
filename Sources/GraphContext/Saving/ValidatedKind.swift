import Predicates

/// The change of a save to an object that it validates.
enum ValidatedChange: Hashable {
  case insertion, update, deletion
}

extension ManagedObject {
  /// Calls the rules in code for a change.
  func validate(for change: ValidatedChange) throws {
    switch change {
    case .insertion: try validateForInsert()
    case .update: try validateForUpdate()
    case .deletion: try validateForDelete()
    }
  }
}

/// The class of an object and the change of a save to it. Together they decide which rules in code the object has.
struct ValidatedKind: Hashable {
  /// The entity's ordinal.
  private let entity: Int
  private let classTag: UInt16
  private let change: ValidatedChange

  init(_ key: ObjectKey, for change: ValidatedChange) {
    (entity, classTag, self.change) = (key.entity, key.number.classTag, change)
  }
}

/// The kinds that were found to have no rules in code. A program has few: so they are a list, whose last one is most
/// often asked for.
struct UnruledKinds {
  private var kinds: [ValidatedKind] = []

  func contains(_ kind: ValidatedKind) -> Bool { kinds.last == kind || kinds.contains(kind) }

  mutating func insert(_ kind: ValidatedKind) {
    if !contains(kind) { kinds.append(kind) }
  }
}
