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
  ///   - refused: the slots whose values the record's encoder has refused.
  ///   - slots: the slots to check.
  ///   - failures: receives the failures that are found.
  func check(
    _ record: RecordView,
    refused: RefusedSlots,
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
    for slot in refused.unfitting {
      let kind = entity.schema.stored[slot].kind
      note(.wrongValue, slot) {
        "\($0) is given a value that \(kind == .coded ? "can't be encoded" : "is no \(kind)")"
      }
    }
    for slot in refused.tooLong {
      note(.wrongValue, slot) {
        "the values of object \(number), among them \($0), \(ContextError.valuesAreTooLong)"
      }
    }
    let required = entity.requiredSlots(of: number).intersection(slots).subtracting(entity.derivedSlots)
    for slot in record.missingSlots(required.subtracting(refused.all)) {
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
    "are too long together: the record of one object has at most 4,294,967,295 bytes"
  }
}
