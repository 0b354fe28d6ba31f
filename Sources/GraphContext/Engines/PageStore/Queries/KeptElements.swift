import Predicates

/// The elements of to-many relationships that were read ahead of their use, by table and owner. They are the
/// elements in one snapshot, which doesn't change.
struct KeptElements {
  private var lists: [LinkTable: [ObjectNumber: [ObjectNumber]]] = [:]
  /// The approximate number of bytes of the lists.
  private(set) var byteCount = 0

  /// Bytes of an entry of the dictionary and the header of its array.
  private static let overhead = 64

  /// Returns the elements of an owner, ascending; nil if they weren't read. O(1).
  func elements(of owner: ObjectNumber, in links: LinkTable) -> [ObjectNumber]? {
    lists.isEmpty ? nil : lists[links]?[owner]
  }

  mutating func insert(_ elements: [ObjectNumber], of owner: ObjectNumber, in links: LinkTable) {
    let isNew = lists[links, default: [:]].updateValue(elements, forKey: owner) == nil
    if isNew { byteCount += Self.overhead + elements.count * MemoryLayout<ObjectNumber>.stride }
  }
}
