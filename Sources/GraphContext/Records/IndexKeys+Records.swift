import Predicates

// The keys that a record has in the declared indexes of its entity.

extension ResolvedIndex {
  /// Appends the key of a record, for an index with one entry for each object. Returns whether no component is nil.
  func appendKey(of record: RecordView, _ number: ObjectNumber, to key: inout [UInt8]) -> Bool {
    var isComplete = true
    for column in columns {
      if record.isNull(column.slot) { isComplete = false }
      column.append(record, number, to: &key)
    }
    KeyCoder.append(number: number, to: &key)
    return isComplete
  }

  /// The keys of a record: one, or in an index of elements one for each different element of its list. If a list can't
  /// be read to its end, the keys of the elements up to that position.
  func keys(of record: RecordView, _ number: ObjectNumber) -> Set<[UInt8]> {
    guard let first = columns.first, let kind = first.elementKind else {
      var key: [UInt8] = []
      _ = appendKey(of: record, number, to: &key)
      return [key]
    }
    if record.isNull(first.slot) { return [] }
    var rest: [UInt8] = []
    for column in columns.dropFirst() {
      column.append(record, number, to: &rest)
    }
    KeyCoder.append(number: number, to: &rest)
    var keys: Set<[UInt8]> = []
    var elements = ListElements(record.variable(first.slot), of: kind)
    while let element = try? elements.next() {
      var key: [UInt8] = []
      KeyCoder.append(element, folding: first.folding, to: &key)
      keys.insert(key + rest)
    }
    return keys
  }

  /// Calls `body` with each key of a record. `key` is memory in which the keys are made.
  func forEachKey(
    of record: RecordView,
    _ number: ObjectNumber,
    in key: inout [UInt8],
    _ body: ([UInt8]) -> Void
  ) {
    if isOfElements { return keys(of: record, number).forEach(body) }
    key.removeAll(keepingCapacity: true)
    _ = appendKey(of: record, number, to: &key)
    body(key)
  }
}

extension ResolvedIndex.Column {
  /// Appends the component of a record. An object without a place has the place of its number.
  fileprivate func append(_ record: RecordView, _ number: ObjectNumber, to key: inout [UInt8]) {
    if record.isNull(slot), record.field(slot).kind == .place {
      KeyCoder.append(ListPlace(of: number)._attributeValue, to: &key)
    } else {
      KeyCoder.append(slot, of: record, folding: folding, to: &key)
    }
  }
}
