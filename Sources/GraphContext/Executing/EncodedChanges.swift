import Predicates

/// The unsaved changes of one entity as records, kept by a context from one query to the next: a query pays for what has
/// changed since the one before.
///
/// A caller that changes an object calls ``noteStale(_:)``; the next ``update(from:)`` encodes the object again. A setter
/// says so through the object's `announcesChange`, which is set again for every object that was encoded.
final class EncodedChanges {
  /// The records of new and changed objects, in no order.
  private(set) var records: [(number: ObjectNumber, bytes: UnsafeRawBufferPointer)] = []
  /// Objects whose stored record doesn't count: changed or deleted.
  private(set) var hidden: Set<ObjectNumber> = []
  /// Where in `records` an object is.
  private var places: [ObjectNumber: Int] = [:]
  /// Objects that have changed since their record was encoded, or have none yet.
  private var stale: Set<ObjectNumber> = []
  /// For slots that were looked up by value.
  private var keyed: [KeyedRecords] = []
  private let entity: StoredEntity
  /// Owns the records' bytes, and those of records that have been replaced.
  private var encoder: RecordEncoder
  /// How many records were encoded, replaced ones included.
  private(set) var encodingCount = 0
  /// The objects that were brought up to date, in the order in which that was done: who keeps something of the records sees what has changed since.
  private(set) var log: [ObjectNumber] = []

  /// - Parameter pending: every object of the entity that has unsaved changes.
  init(_ entity: StoredEntity, _ pending: ChangedObjects) {
    self.entity = entity
    encoder = RecordEncoder(layout: entity.layout, blockByteCount: 1 << 16)
    for object in pending.inserted + pending.updated + pending.deleted { stale.insert(object._$state.number) }
  }

  /// The record of a new or changed object.
  func record(_ number: ObjectNumber) -> UnsafeRawBufferPointer? { places[number].map { records[$0].bytes } }

  /// The object isn't any more what it was when the records were last brought up to date.
  func noteStale(_ number: ObjectNumber) { stale.insert(number) }

  /// Whether most of the memory holds records that were replaced since, or tells of such: then it is time to start afresh.
  var isWasteful: Bool {
    encodingCount > 2 * records.count + 1_024 || log.count > 2 * (records.count + hidden.count) + 1_024
  }

  /// Brings the records up to date. O(objects changed since the last time).
  func update(from context: ManagedObjectContext) {
    if stale.isEmpty { return }
    for number in stale { update(number, context.knownObject(number, of: entity)) }
    log += stale
    stale.removeAll()
  }

  private func update(_ number: ObjectNumber, _ object: (any ManagedObject)?) {
    let phase = object?._$state.phase
    let isUpdated = phase == .persistent && object?._$state.changed != 0
    if isUpdated || phase == .deleted { hidden.insert(number) } else { hidden.remove(number) }
    if let object, isUpdated || phase == .inserted {
      put(number, encode(object))
      object._$state.announcesChange = true
    } else {
      remove(number)
    }
  }

  private func encode(_ object: any ManagedObject) -> UnsafeRawBufferPointer {
    encodingCount += 1
    encoder.begin()
    encoder.setValues(of: object, entity)
    return UnsafeRawBufferPointer(encoder.finish())
  }

  private func put(_ number: ObjectNumber, _ bytes: UnsafeRawBufferPointer) {
    if let place = places[number] {
      forgetKeys(number, records[place].bytes)
      records[place].bytes = bytes
    } else {
      places[number] = records.count
      records.append((number, bytes))
    }
    for place in keyed.indices { keyed[place].insert(number, view(bytes)) }
  }

  private func remove(_ number: ObjectNumber) {
    guard let place = places.removeValue(forKey: number) else { return }
    forgetKeys(number, records[place].bytes)
    let last = records.removeLast()
    if last.number == number { return }
    records[place] = last
    places[last.number] = place
  }

  // MARK: By value

  /// The new and changed objects whose value in a slot has this component (``KeyCoder``). O(1) from the second time on that
  /// a slot is asked about.
  func numbers(withKey key: [UInt8], at slot: Int) -> [ObjectNumber] {
    if let known = keyed.first(where: { $0.slot == slot }) { return known[key] }
    var made = KeyedRecords(slot: slot)
    for (number, bytes) in records { made.insert(number, view(bytes)) }
    keyed.append(made)
    return made[key]
  }

  private func forgetKeys(_ number: ObjectNumber, _ bytes: UnsafeRawBufferPointer) {
    for place in keyed.indices { keyed[place].remove(number, view(bytes)) }
  }

  private func view(_ bytes: UnsafeRawBufferPointer) -> RecordView {
    RecordView(validated: bytes, layout: entity.layout)
  }
}
