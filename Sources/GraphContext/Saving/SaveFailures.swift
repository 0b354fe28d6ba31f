import Foundation
import Predicates

/// The failures that a save finds in its objects, gathered so that one error reports all of them.
///
/// A failure of the store itself is not among them: it is thrown at once.
struct SaveFailures {
  private(set) var list: [ContextError] = []
  private var count = 0

  /// The greatest number of failures that are kept; the others are counted.
  static let limit = 1_000

  var isEmpty: Bool { count == 0 }

  mutating func note(_ failure: ContextError) {
    count += 1
    if list.count < Self.limit { list.append(failure) }
  }

  /// Throws the first failure, with the list of all.
  func throwIfAny() throws(ContextError) {
    guard let first = list.first else { return }
    throw count == 1 ? first : ContextError(first, with: list, of: count)
  }
}

extension SaveRequest {
  /// Notes that others have changed slots of an object in a way that contradicts the request.
  mutating func noteConflict(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ slots: SlotSet,
    in storeID: UUID
  ) {
    failures.note(.conflict(entity.objectID(number, in: storeID), "changed", entity.names(of: slots)))
  }
}
