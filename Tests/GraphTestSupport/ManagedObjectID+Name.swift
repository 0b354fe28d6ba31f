import Foundation
import Predicates

@testable import GraphContext

extension ManagedObjectID {
  /// The ID of the form without an entity's number.
  package init(entityName: String, number: ObjectNumber, storeID: UUID) {
    self.init(entity: EntityLabel(nil, name: entityName), number: number, storeID: storeID)
  }
}
