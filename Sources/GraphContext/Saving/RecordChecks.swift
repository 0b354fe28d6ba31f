import Foundation
import Predicates

/// Checks the values of encoded records: their types, required values, and the rules of attributes.
struct RecordChecks {
  private let rules: [[AttributeChecks]]
  private let showsValues: Bool
  private let storeID: UUID

  init(_ coordinator: StoreCoordinator) {
    rules = coordinator.checks
    showsValues = coordinator.showsValues
    storeID = coordinator.storeID
  }

  /// - Parameters:
  ///   - record: the values.
  ///   - refused: a slot whose value didn't fit its kind.
  ///   - slots: bits of the slots to check.
  ///   - failures: receives what is wrong.
  func check(
    _ record: RecordView,
    refused: Int?,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: UInt64 = .max,
    _ failures: inout SaveFailures
  ) {
    func note(
      _ code: ContextError.Code,
      _ slot: Int,
      _ values: [AttributeValue] = [],
      _ problem: (String) -> String
    ) {
      let property = entity.schema.stored[slot]
      let context = ContextError.Context(
        entity: entity.name,
        objectID: ManagedObjectID(entity: entity.label, number: number, storeID: storeID),
        properties: [property.name],
        values: values
      )
      failures.note(ContextError(code, problem("\(entity.name).\(property.name)"), context: context))
    }
    if let refused {
      let kind = entity.schema.stored[refused].kind
      note(.missingValue, refused) {
        "\($0) is given a value that \(kind == .coded ? "can't be encoded" : "is no \(kind)")"
      }
    }
    var missing = record.missingSlots(entity.requiredSlots & slots)
    while missing != 0 {
      let slot = missing.trailingZeroBitCount
      missing &= missing - 1
      if slot == refused { continue }
      note(.missingValue, slot) { "\($0) is required, and object \(number) has no value for it" }
    }
    for check in rules[entity.ordinal] where slots & 1 << UInt64(check.slot) != 0 {
      let value = record.value(check.slot)
      for rule in check.broken(by: value) {
        note(.validationFailed, check.slot, showsValues ? [value] : []) { name in
          "\(name) of object \(number)\(showsValues ? " is \(value.spelling) and" : "") \(rule)"
        }
      }
    }
  }
}
