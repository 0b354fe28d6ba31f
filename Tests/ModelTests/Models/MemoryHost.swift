import Foundation
import GraphTestSupport
import Predicates

@testable import GraphContext

/// A context on top of a dictionary. It is enough to show the calls of an object to its context, and the effects of a
/// refusal.
final class MemoryHost: ObjectHost {
  enum Event: Equatable {
    case willChange(ObjectNumber)
    case adopted(ObjectNumber)
    case toOne(ObjectNumber, slot: Int, from: ObjectNumber, to: ObjectNumber)
    case added(ObjectNumber, to: ObjectNumber)
    case removed(ObjectNumber, from: ObjectNumber)
    case unreadable(ObjectNumber, slot: Int)
    case recordLookedUp(ObjectNumber)
    case listed(ObjectNumber)
  }

  var events: [Event] = []
  private var records: [ObjectNumber: UnsafeMutableRawBufferPointer] = [:]
  private var objects: [ObjectNumber: any ManagedObject] = [:]
  private var members: [ObjectNumber: [ObjectNumber]] = [:]
  private var lastNumber: ObjectNumber = 0
  private var queue: [any ManagedObject] = []
  private var isDraining = false

  deinit { for record in records.values { record.deallocate() } }

  override var storeID: UUID { UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)) }

  /// Puts a record in the store.
  func store<Object: ManagedObject>(
    _ type: Object.Type,
    _ number: ObjectNumber,
    _ values: [AttributeValue]
  ) -> Object {
    var encoder = RecordEncoder(layout: Object._$model.layout)
    encoder.begin()
    for (slot, value) in values.enumerated() { precondition(encoder.set(value, at: slot)) }
    storeBytes(Array(encoder.finish()), number)
    lastNumber = max(lastNumber, number)
    return unsafeDowncast(object(of: type, number: number), to: type)
  }

  func storeBytes(_ bytes: [UInt8], _ number: ObjectNumber) {
    records[number]?.deallocate()
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    records[number] = copy
    generation += 1
  }

  /// Releases all objects as a context does at its end: objects and context no longer hold each other.
  func releaseAll() {
    for object in objects.values { object._$state.leave(EntityNumber(rawValue: 1)) }
    objects = [:]
  }

  override func record(of object: any ManagedObject) -> UnsafeRawBufferPointer? {
    events.append(.recordLookedUp(object._$state.number))
    return records[object._$state.number].map { UnsafeRawBufferPointer($0) }
  }

  override func unreadableValue(of object: any ManagedObject, slot: Int) {
    events.append(.unreadable(object._$state.number, slot: slot))
  }

  override func object(of type: any ManagedObject.Type, number: ObjectNumber) -> any ManagedObject {
    if let known = objects[number] { return known }
    let fault = type.init(_$state: ObjectState(fault: number, in: self))
    objects[number] = fault
    return fault
  }

  override func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] {
    events.append(.listed(object._$state.number))
    return members[object._$state.number] ?? []
  }

  override func elementCount(of object: any ManagedObject, toMany: Int) -> Int {
    members[object._$state.number]?.count ?? 0
  }

  override func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    members[object._$state.number]?.contains(number) ?? false
  }

  override func willChange(_ object: any ManagedObject, slots: SlotSet) {
    events.append(.willChange(object._$state.number))
  }

  @discardableResult
  override func adopt(_ object: any ManagedObject) -> Bool {
    guard object._$state.host == nil else { return true }
    lastNumber = ObjectNumber(rawValue: lastNumber.rawValue + 1)
    object._$state.enter(self, number: lastNumber)
    objects[lastNumber] = object
    events.append(.adopted(lastNumber))
    queue.append(object)
    guard !isDraining else { return true }
    isDraining = true
    while let next = queue.popLast() { next.attachRelationships() }
    isDraining = false
    return true
  }

  override func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    events.append(.toOne(object._$state.number, slot: slot, from: old, to: new))
  }

  override func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) {
    events.append(.added(element._$state.number, to: object._$state.number))
    members[object._$state.number, default: []].append(element._$state.number)
  }

  override func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) {
    events.append(.removed(element._$state.number, from: object._$state.number))
    members[object._$state.number]?.removeAll { $0 == element._$state.number }
  }
}
