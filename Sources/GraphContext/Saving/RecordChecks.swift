import Foundation
import Predicates

/// The checks of the values of encoded records: their types, required values, and the rules of attributes.
struct RecordChecks {
  private let rules: [[AttributeChecks]]
  private let showsValues: Bool
  private let storeID: UUID

  init(_ coordinator: StoreCoordinator) {
    rules = coordinator.models.checks
    showsValues = coordinator.showsValues
    storeID = coordinator.storeID
  }

  /// - Parameters:
  ///   - record: the values.
  ///   - refused: a slot whose value didn't fit its kind, or the record.
  ///   - isOverfull: whether a value was too long for the record.
  ///   - slots: the slots to check.
  ///   - failures: receives the failures that are found.
  func check(
    _ record: RecordView,
    refused: Int?,
    isOverfull: Bool = false,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: SlotSet = .all,
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
        objectID: entity.objectID(number, in: storeID),
        properties: [property.name],
        values: values
      )
      failures.note(ContextError(code, problem("\(entity.name).\(property.name)"), context: context))
    }
    if let refused {
      let kind = entity.schema.stored[refused].kind
      note(.wrongValue, refused) {
        isOverfull
          ? "the values of object \(number), among them \($0), \(ContextError.valuesAreTooLong)"
          : "\($0) is given a value that \(kind == .coded ? "can't be encoded" : "is no \(kind)")"
      }
    }
    let required = entity.requiredSlots(of: number).intersection(slots).subtracting(entity.derivedSlots)
    for slot in record.missingSlots(required) where slot != refused {
      note(.missingValue, slot) { "\($0) is required, and object \(number) has no value for it" }
    }
    noteForeignValues(of: record, number, entity, in: slots) { slot in
      note(.wrongValue, slot) { "\($0) is no property of the class of object \(number)" }
    }
    for check in rules[entity.ordinal] where slots.contains(check.slot) {
      let value = record.value(check.slot)
      for rule in check.broken(by: value) {
        note(.validationFailed, check.slot, showsValues ? [value] : []) { name in
          "\(name) of object \(number)\(showsValues ? " is \(value) and" : "") \(rule)"
        }
      }
    }
  }

  /// Calls `body` for each slot with a value that objects of the class can't have.
  private func noteForeignValues(
    of record: RecordView,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in slots: SlotSet,
    _ body: (Int) -> Void
  ) {
    guard let foreign = entity.storedClass(of: number)?.foreignSlots.intersection(slots) else { return }
    for slot in foreign.subtracting(record.missingSlots(foreign)) { body(slot) }
  }
}

extension ContextError {
  /// The end of a sentence whose subject is the values of an object.
  static var valuesAreTooLong: String {
    "have more than 4,294,967,295 bytes together, which is the most that one object can have"
  }
}
