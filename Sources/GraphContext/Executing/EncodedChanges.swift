import Predicates

/// The unsaved changes of one entity as records, kept by a context from one query to the next: a query only pays
/// for the changes since the previous query.
///
/// A caller that changes an object calls ``noteStale(_:)``; the next ``update(from:)`` encodes the object again. A
/// setter does so through the object's `announcesChange`, which is set again for every object that was encoded.
final class EncodedChanges {
  /// The records of new and changed objects, in no order.
  private(set) var records: [(number: ObjectNumber, bytes: UnsafeRawBufferPointer)] = []
  /// Objects whose stored record doesn't count: changed or deleted.
  private(set) var hidden: Set<ObjectNumber> = []
  /// The position of each object in `records`.
  private var places: [ObjectNumber: Int] = [:]
  /// Objects that have changed since their record was encoded, or have no record yet.
  private var stale: Set<ObjectNumber> = []
  /// The records by key, for slots that were looked up by value.
  private var keyed: [KeyedRecords] = []
  private let entity: StoredEntity
  /// The owner of the records' bytes, and of those of records that have been replaced.
  private var encoder: RecordEncoder
  /// The number of records that were encoded, replaced ones included.
  private(set) var encodingCount = 0
  /// The objects whose records were updated, in the order of the updates. A reader that keeps data of the records finds
  /// the later changes here.
  private(set) var log: [ObjectNumber] = []

  /// Makes the records of an entity's changes.
  ///
  /// - Parameter pending: every object of the entity that has unsaved changes.
  init(_ entity: StoredEntity, _ pending: ChangedObjects) {
    self.entity = entity
    encoder = RecordEncoder(layout: entity.layout, blockByteCount: 1 << 16)
    for object in pending.inserted + pending.updated + pending.deleted { stale.insert(object._$state.number) }
  }

  /// Returns the record of a new or changed object.
  func record(_ number: ObjectNumber) -> UnsafeRawBufferPointer? { places[number].map { records[$0].bytes } }

  /// Notes that the object has changed since the last update of the records.
  func noteStale(_ number: ObjectNumber) { stale.insert(number) }

  /// True if most of the memory holds replaced records, or log entries of such records: the changes should then be
  /// encoded afresh.
  var isWasteful: Bool {
    encodingCount > 2 * records.count + 1_024 || log.count > 2 * (records.count + hidden.count) + 1_024
  }

  /// Updates the records. O(objects changed since the last update).
  func update(from context: ManagedObjectContext) {
    if stale.isEmpty { return }
    for number in stale { update(number, context.knownObject(number, of: entity)) }
    log += stale
    stale.removeAll()
  }

  private func update(_ number: ObjectNumber, _ object: (any ManagedObject)?) {
    let phase = object?._$state.phase
    let isUpdated = phase == .persistent && object?._$state.changed.isEmpty == false
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

  /// Returns the new and changed objects whose value in a slot has this component (``KeyCoder``). O(1) from the
  /// second call for a slot on.
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
