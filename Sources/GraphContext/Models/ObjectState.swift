import Foundation
import Predicates

/// The state of an object of a model, beside its values: its identity, which values it holds, where its record
/// lies.
///
/// Every model class stores one, as `_$state`. The default is the state of an object that was just made and is in no
/// context; it allocates nothing. Apps don't use it: `@Model` writes the code that uses it, and a model written by hand
/// uses it in the same way.
///
/// Invariants:
/// 1. `fast ⊆ loaded`: a getter may return its cache without calling the host exactly if its slot is in `fast`.
/// 2. `changed ⊆ loaded`.
/// 3. `record`, if not nil, was accepted by `RecordView(_:layout:)` and is valid while the host's generation is
///    `generation`.
/// 4. `number` is not `none` exactly when the object is, or has been, in a context. It never changes once set.
/// 5. An object that is in the phase `gone` and has no number stands for one that could not be read.
/// 6. `fast` is empty while the object reports reads.
public struct ObjectState {
  /// Properties whose getter may return its cache at once. The getter of another one takes the slow path.
  @usableFromInline package var fast = SlotSet.all
  /// Slots whose cache holds the object's value.
  @usableFromInline package var loaded = SlotSet.all
  /// Slots that were set since the object was fetched, saved or refreshed.
  @usableFromInline package var changed = SlotSet.empty
  /// The object's number within its entity; none before the object is inserted.
  @usableFromInline package var number = ObjectNumber.none
  /// The ``host``.
  // Safety: every object whose host is a context is in the context's identity map, and the context's deinit makes all
  // of them leave. The other host, the tracer of key paths, lets go of its objects in the same way.
  // A getter looks at two fields of it without counting a reference.
  @usableFromInline var unmanagedHost: Unmanaged<ObjectHost>?
  /// The record in the context's snapshot; nil until it is looked for, and for objects that have none.
  @usableFromInline package var record: UnsafeRawPointer?
  /// The length of the record. For an object that has no record any more (phase `gone`), this is the number of its
  /// entity, or 0 if that is not known. For a new object, this is the lower half of its provisional number; the upper
  /// half is in `generation`.
  @usableFromInline package var recordByteCount: UInt32 = 0
  /// The host's generation when `record` was found.
  @usableFromInline package var generation: UInt32 = 0
  @usableFromInline package var phase: Phase = .new
  /// The listeners of reads and changes. If this is empty, a setter only sets the cache.
  @usableFromInline package var hearers = Hearers()
  /// False for a fault whose `awakeFromFetch` has not been called yet; true for every other object.
  @usableFromInline package var isAwake = true
  /// The tag of the store that an object in the phase `gone` was in, so that it keeps its ID without its host. 0
  /// before.
  private(set) var storeTag: UInt32 = 0

  /// The listeners of reads and changes of an object.
  @usableFromInline
  package struct Hearers: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The context must be told of the next change: the object is in a context that doesn't hold it as changed yet, has
    /// a copy of its values, or records which properties change.
    @inlinable package static var change: Hearers { Hearers(rawValue: 1) }
    /// The context is told of every property that is read: its objects can be observed.
    @inlinable package static var reading: Hearers { Hearers(rawValue: 2) }
    /// A property of the object is or was observed.
    @inlinable package static var observers: Hearers { Hearers(rawValue: 4) }
  }

  /// A phase in the life of an object.
  @usableFromInline package enum Phase: UInt8, Sendable {
    /// In no context yet.
    case new
    /// Inserted, not saved.
    case inserted
    /// Saved. Its values may or may not have been read.
    case persistent
    /// Deleted in its context, not saved. It can still be read.
    case deleted
    /// Its deletion was saved, or its context was reset. Values that were read before stay readable.
    case gone
    /// An object that only exists to find the names along a key path.
    case tracer
  }

  /// Makes the state of a new object in no context.
  @inlinable
  public init() {}

  /// Makes the state of a new object in no context that lacks some values until they are asked for, or until its
  /// insertion.
  ///
  /// - Parameter slots: bits of the slots.
  @inlinable
  public init(lacking slots: UInt64) { self.init(lacking: SlotSet(rawValue: slots)) }

  /// Makes the same state for a set of slots.
  @inlinable
  package init(lacking slots: SlotSet) {
    loaded = .all.subtracting(slots)
    fast = loaded
  }

  /// Makes the state of an object that exists in a store and has none of its values yet.
  @inlinable
  package init(fault number: ObjectNumber, in host: ObjectHost) {
    fast = .empty
    loaded = .empty
    isAwake = false
    self.number = number
    self.host = host
    phase = .persistent
    hearers = host.hearersOfFaults
  }

  /// Makes the state of an object that stands for one that could not be read: in the phase `gone`, and without a
  /// number.
  init(missingIn storeTag: UInt32) {
    fast = .empty
    loaded = .empty
    phase = .gone
    self.storeTag = storeTag
  }

  /// The state of an object that is made only for the types of its properties.
  static var sample: ObjectState {
    var state = ObjectState(missingIn: 0)
    state.phase = .tracer
    return state
  }

  /// The most slots (attributes and to-one relationships) that a model can have: one bit of a word each.
  public static let maximumSlotCount = 64
}

// MARK: - What getters and setters ask

extension ObjectState {
  /// Returns true if the getter of this slot may return its cache at once.
  @inlinable @inline(__always)
  public func isFast(_ slot: Int) -> Bool { fast.contains(slot) }

  @inlinable @inline(__always)
  package func isLoaded(_ slot: Int) -> Bool { loaded.contains(slot) }

  /// Notes that the cache of this slot now holds the value.
  @inlinable @inline(__always)
  package mutating func didLoad(_ slot: Int) {
    loaded.insert(slot)
    if !reportsReading { fast.insert(slot) }
  }

  /// Notes that the cache of this slot holds the value before a getter has asked for it. The slot isn't fast, so that
  /// the first getter calls `awakeFromFetch`.
  mutating func didLoadAhead(_ slot: Int) { loaded.insert(slot) }

  /// True if the context must be told of the next change.
  @inlinable package var announcesChange: Bool {
    get { hearers.contains(.change) }
    set { if newValue { hearers.insert(.change) } else { hearers.remove(.change) } }
  }

  /// True if the context is told of every property that is read.
  @inlinable package var reportsReading: Bool { hearers.contains(.reading) }

  /// True if a property of the object is observed now, or was observed earlier.
  @inlinable package var isObserved: Bool { hearers.contains(.observers) }

  /// Makes the object report reads, or stop reporting them.
  mutating func setReportsReading(_ reports: Bool) {
    if reports {
      hearers.insert(.reading)
      fast = .empty
    } else {
      hearers.subtract([.reading, .observers])
      fast = isAwake ? loaded : .empty
    }
  }

  /// Notes that the cache of this slot now holds a value that the program has set.
  @inlinable @inline(__always)
  package mutating func didSet(_ slot: Int) {
    changed.insert(slot)
    didLoad(slot)
  }

  /// The record's bytes if they have been found and are still there.
  @inlinable @inline(__always)
  package var currentRecord: UnsafeRawBufferPointer? {
    guard let record, let unmanagedHost,
      unmanagedHost._withUnsafeGuaranteedRef({ $0.generation }) == generation
    else { return nil }
    return UnsafeRawBufferPointer(start: record, count: Int(recordByteCount))
  }

  /// The context that the object lives in; nil before insertion and after the object left its context.
  @inlinable @inline(__always)
  package var host: ObjectHost? {
    get { unmanagedHost?.takeUnretainedValue() }
    set { unmanagedHost = newValue.map(Unmanaged.passUnretained) }
  }

  /// True if the store may have the properties in another order than the model declares.
  @inlinable @inline(__always)
  package var hostHasOtherLayouts: Bool {
    unmanagedHost?._withUnsafeGuaranteedRef { $0.hasOtherLayouts } ?? false
  }
}

// MARK: - What the context does

extension ObjectState {
  /// Notes that the object is now in a context, with its final number. It keeps its values; the context holds it as
  /// inserted.
  mutating func enter(_ host: ObjectHost, number: ObjectNumber) {
    self.host = host
    self.number = number
    phase = .inserted
    forgetRecord()
    generation = 0
    changed = .empty
    setReportsReading(host.hearersOfFaults.contains(.reading))
    announcesChange = false
  }

  /// Notes that the object's values are now those in the store. It keeps the values that were read and set.
  mutating func becomeSaved() {
    phase = .persistent
    changed = .empty
    forgetRecord()
    announcesChange = true
  }

  /// Marks every value as to be read again on its next access: after a rollback, a refresh, a merge.
  mutating func becomeFault() {
    phase = .persistent
    fast = .empty
    loaded = .empty
    isAwake = false
    changed = .empty
    forgetRecord()
    announcesChange = true
  }

  /// Marks values that were not set by the program as to be read again: for a merge into an object with unsaved
  /// changes.
  ///
  /// - Parameter slots: the slots that this is about.
  mutating func forgetUnchangedValues(in slots: SlotSet = .all) {
    let unchanged = slots.subtracting(changed)
    loaded.subtract(unchanged)
    fast.subtract(unchanged)
    if slots == .all { isAwake = false }
    forgetRecord()
  }

  /// Undoes the changes: the slots that were set are read again.
  ///
  /// - Parameter slots: the slots that this is about.
  mutating func forgetChanges(in slots: SlotSet = .all) {
    loaded.subtract(changed.intersection(slots))
    fast.formIntersection(loaded)
    changed.subtract(slots)
    announcesChange = phase == .persistent
  }

  /// Marks the record as to be looked up again.
  mutating func forgetRecord() {
    record = nil
    recordByteCount = 0
  }

  /// Notes that the object has left its context for good.
  ///
  /// - Parameter entity: the number of the object's entity in the store.
  mutating func leave(_ entity: EntityNumber) {
    phase = .gone
    if let host { storeTag = host.storeTag }
    host = nil
    forgetRecord()
    recordByteCount = entity.rawValue
    changed = .empty
    hearers = []
    fast = loaded
  }

  /// Notes that the tracer of a key path no longer uses the object. Code of the model may have kept it.
  mutating func leaveTracer() {
    phase = .gone
    host = nil
  }

  /// Notes that an insertion was rolled back: the object is in no context again, and keeps its attributes. Its number
  /// is not used again; a second insertion gives it another one. It has another provisional number, too.
  mutating func becomeNew() {
    self = ObjectState()
  }

  @inlinable
  package mutating func setRecord(_ bytes: UnsafeRawBufferPointer, generation: UInt32) {
    record = bytes.baseAddress
    recordByteCount = UInt32(bytes.count)
    self.generation = generation
  }

  /// The parts of the object's ID, read together: each access to the state through the protocol runs a coroutine.
  var place: (host: ObjectHost?, number: ObjectNumber, phase: Phase) { (host, number, phase) }

  /// The ID of the store that the object is in, or was in before it left its context for good; nil for a new object.
  var storeID: UUID? { host?.storeID ?? StoreTags.storeID(storeTag) }

  /// Returns the number that a new object has in its ID until it is inserted: the same at every call, and different
  /// from those of all other new objects of this process.
  mutating func provisionalNumber() -> ObjectNumber {
    if recordByteCount == 0, generation == 0 {
      let number = ProvisionalNumbers.next()
      recordByteCount = UInt32(truncatingIfNeeded: number)
      generation = UInt32(truncatingIfNeeded: number >> 32)
    }
    return ObjectNumber(rawValue: UInt64(generation) << 32 | UInt64(recordByteCount))
  }

  /// The entity of an object in the phase `gone`, if its store is known.
  var entityLeft: EntityNumber? {
    phase == .gone && recordByteCount > 0 ? EntityNumber(rawValue: recordByteCount) : nil
  }

  var hasChanges: Bool {
    switch phase {
    case .inserted, .deleted: true
    case .persistent: !changed.isEmpty
    case .new, .gone, .tracer: false
    }
  }
}
