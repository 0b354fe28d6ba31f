import Foundation
import Predicates

/// Objects of an entity's classes that no store has: only an object knows the types of its attributes. A batch asks
/// them whether these types can read back what the batch is about to store.
struct AttributeSamples {
  private let coordinator: StoreCoordinator
  private let entity: StoredEntity
  private var samples: [UInt16: Sample] = [:]

  private struct Sample {
    let object: any ManagedObject
    /// The attributes whose types refuse some values of their kinds.
    let refusing: SlotSet
  }

  init(_ coordinator: StoreCoordinator, _ entity: StoredEntity) {
    (self.coordinator, self.entity) = (coordinator, entity)
  }

  /// Returns the slots of a set that have values which the attributes' types can't read back: a raw value, say, that
  /// the failable initialiser refuses. O(1) for an attribute whose type reads all values of its kind. No sample is made
  /// for a set without slots.
  mutating func unreadableSlots(
    of record: RecordView,
    in slots: SlotSet,
    _ number: ObjectNumber
  ) -> SlotSet {
    if slots.isEmpty { return .empty }
    let sample = sample(of: number)
    var unreadable = SlotSet.empty
    for slot in slots.intersection(sample.refusing) where !record.isNull(slot) {
      var trial = ReadingTrial(record)
      sample.object._$visit(slot, &trial)
      if trial.isUnreadable { unreadable.insert(slot) }
    }
    return unreadable
  }

  /// Ends the use of the samples. Code of the models may have kept them.
  mutating func end() {
    for sample in samples.values { sample.object._$state.leaveTracer() }
    samples = [:]
  }

  private mutating func sample(of number: ObjectNumber) -> Sample {
    func make<Object: ManagedObject>(_ type: Object.Type) -> any ManagedObject {
      coordinator.models.makeObject(type, .sample, number: number, entity.ordinal)
    }
    if let sample = samples[number.classTag] { return sample }
    let object = make(coordinator.models.type(of: number, entity.ordinal))
    var types = RefusingTypes()
    for slot in entity.slotsByPlace { object._$visit(slot, &types) }
    let sample = Sample(object: object, refusing: types.slots)
    samples[number.classTag] = sample
    return sample
  }
}

/// A visitor that notes the attributes whose types refuse some values of their kinds.
private struct RefusingTypes: PropertyVisitor {
  private(set) var slots = SlotSet.empty

  /// The types that read every value of their kinds.
  private static let readingAll: Set<ObjectIdentifier> = {
    let types: [any AttributeType.Type] = [
      Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
      UInt32.self, UInt64.self, Float.self, Double.self, Decimal.self, String.self, Data.self, Date.self,
      UUID.self, RecordValue.self,
    ]
    return Set(types.map { ObjectIdentifier($0) })
  }()

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    if !Self.readingAll.contains(ObjectIdentifier(Value._Present.self)) { slots.insert(slot) }
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}

  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

/// A visitor that finds out whether the type of an attribute can read the value of a record.
private struct ReadingTrial: PropertyVisitor {
  private let record: RecordView
  private(set) var isUnreadable = false

  init(_ record: RecordView) { self.record = record }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    isUnreadable = Value(_record: record, slot: slot) == nil
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}

  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}

extension SaveFailures {
  /// Notes that the types of attributes can't read back the values at these slots of an object.
  mutating func noteUnreadable(
    _ slots: SlotSet,
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in storeID: UUID
  ) {
    for slot in slots {
      let (name, id) = (entity.schema.stored[slot].name, entity.objectID(number, in: storeID))
      let context = ContextError.Context(entity: entity.name, objectID: id, properties: [name])
      note(.unreadableValue(of: "\(entity.name).\(name)", context))
    }
  }
}
