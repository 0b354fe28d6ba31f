import Predicates

/// The bytes that decide the position of a row in a sorted list: the order-preserving encoding of its sort values
/// (``KeyCoder``), complemented if the order is descending, and of its number. One comparison of bytes decides, as
/// in an index.
struct SortKey {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func append(_ value: AttributeValue, isAscending: Bool) {
    let start = bytes.count
    KeyCoder.append(value, to: &bytes)
    if !isAscending { complement(from: start) }
  }

  mutating func append(_ number: ObjectNumber, isAscending: Bool) {
    let start = bytes.count
    KeyCoder.append(number: number, to: &bytes)
    if !isAscending { complement(from: start) }
  }

  private mutating func complement(from start: Int) {
    for place in start..<bytes.count { bytes[place] = ~bytes[place] }
  }
}
