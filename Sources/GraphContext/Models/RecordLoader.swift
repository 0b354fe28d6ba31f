import Predicates

/// Fills the caches of an object with the values of a record.
struct RecordLoader: PropertyVisitor {
  private let record: RecordView
  /// True if an attribute was visited whose value could be decoded.
  var hasLoadedAttribute = false
  /// True if an attribute was visited that has a value which could not be decoded.
  var isUnreadable = false
  /// True to empty the cache of a property if the record has null and the property's type isn't optional. Only the
  /// getters of a ``StoredObject`` work without a value.
  var emptiesCaches = false

  /// - Parameter bytes: were accepted by `RecordView(_:layout:)`.
  init(_ bytes: UnsafeRawBufferPointer, _ layout: RecordLayout) {
    record = RecordView(validated: bytes, layout: layout)
  }

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {
    guard let value = Value(_record: record, slot: slot) else {
      isUnreadable = !record.isNull(slot)
      if emptiesCaches, !isUnreadable { cache = Cached() }
      return
    }
    cache = Cached(value)
    hasLoadedAttribute = true
  }

  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    cache.number = record.reference(slot)
    cache.unattached = nil
  }

  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {}
}
