import Predicates

/// The unsaved objects that have a value in one slot, by the value's key: the equivalent of an index for unsaved
/// objects.
struct KeyedRecords {
  let slot: Int
  private var numbers: [[UInt8]: [ObjectNumber]] = [:]

  init(slot: Int) { self.slot = slot }

  /// Returns the objects whose value has this component (``KeyCoder``).
  subscript(key: [UInt8]) -> [ObjectNumber] { numbers[key] ?? [] }

  mutating func insert(_ number: ObjectNumber, _ record: RecordView) {
    if let key = key(of: record) { numbers[key, default: []].append(number) }
  }

  mutating func remove(_ number: ObjectNumber, _ record: RecordView) {
    guard let key = key(of: record) else { return }
    numbers[key]?.removeAll { $0 == number }
    if numbers[key]?.isEmpty == true { numbers[key] = nil }
  }

  /// Returns the key of a record's value; nil for a record without a value.
  private func key(of record: RecordView) -> [UInt8]? {
    if record.isNull(slot) { return nil }
    var key: [UInt8] = []
    KeyCoder.append(slot, of: record, to: &key)
    return key
  }
}
