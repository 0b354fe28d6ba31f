import PageStore
import Predicates

// The members of ordered relationships, read off the index of owner and place.

extension StoreView {
  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry] {
    counters.singleReads += 1
    do throws(StoreError) {
      if let entries = try soundEntries(of: owner, at: range, in: list) { return entries }
    } catch {
      throw ContextError(error)
    }
    let name = schema.entities[list.entity].name
    throw ContextError(
      .corrupt,
      "the order of \(name) has a key that is none of it",
      context: .init(entity: name)
    )
  }

  /// Nil where a key is not one of a list.
  private func soundEntries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(StoreError) -> [ListEntry]? {
    guard let tree = try tree(named: list.treeName), !range.isEmpty else { return [] }
    let prefix = Self.prefix(of: owner)
    let start = try tree.count(in: KeyRange(lower: .unbounded, upper: .excluding(prefix)))
    var cursor = tree.cursor()
    var entries: [ListEntry] = []
    var isAtEntry = try cursor.seek(toPosition: start + range.lowerBound)
    while isAtEntry, entries.count < range.count {
      let key = try cursor.key()
      guard key.starts(with: prefix) else { break }
      guard let entry = ListEntry(key: key, behind: prefix.count) else { return nil }
      entries.append(entry)
      isAtEntry = try cursor.next()
    }
    return entries
  }

  func entryCount(
    of owner: ObjectNumber,
    before entry: ListEntry?,
    in list: ListTable
  ) throws(ContextError) -> Int {
    var key = Self.prefix(of: owner)
    counters.singleReads += 1
    do throws(StoreError) {
      guard let tree = try tree(named: list.treeName) else { return 0 }
      guard let entry else { return try tree.count(in: .prefix(key)) }
      let start = key
      KeyCoder.append(entry.place._attributeValue, to: &key)
      KeyCoder.append(objectID: entry.number, to: &key)
      return try tree.count(in: KeyRange(lower: .including(start), upper: .excluding(key)))
    } catch {
      throw ContextError(error)
    }
  }

  private static func prefix(of owner: ObjectNumber) -> [UInt8] {
    var prefix: [UInt8] = []
    KeyCoder.append(.reference(owner), to: &prefix)
    return prefix
  }
}

extension ListEntry {
  /// The entry of a key, whose first bytes are its owner's; nil if it is none.
  fileprivate init?(key: UnsafeRawBufferPointer, behind byteCount: Int) {
    var reader = KeyReader(UnsafeRawBufferPointer(rebasing: key[byteCount...]))
    guard let value = reader.next(.place), let place = ListPlace(_attributeValue: value),
      reader.remaining == KeyCoder.objectIDByteCount, let number = KeyCoder.objectID(ending: key)
    else { return nil }
    self.init(place: place, number: number)
  }
}
