import PageStore
import Predicates

// The members of ordered relationships, read from the index of owner and place.

extension StoreView {
  func entries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(ContextError) -> [ListEntry] {
    counters.singleReads += 1
    let entries = try ContextError.mapping { () throws(StoreError) in
      try soundEntries(of: owner, at: range, in: list)
    }
    if let entries { return entries }
    let name = schema.entities[list.entity].name
    throw ContextError(
      .corrupt,
      "the order of \(name) has a key that can't be read",
      context: .init(entity: name)
    )
  }

  /// Nil if a key is not a key of a list.
  private func soundEntries(
    of owner: ObjectNumber,
    at range: Range<Int>,
    in list: ListTable
  ) throws(StoreError) -> [ListEntry]? {
    guard let tree = try tree(named: list.treeName), !range.isEmpty else { return [] }
    let prefix = KeyCoder.listPrefix(of: owner)
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
    let prefix = KeyCoder.listPrefix(of: owner)
    counters.singleReads += 1
    return try ContextError.mapping { () throws(StoreError) -> Int in
      guard let tree = try self.tree(named: list.treeName) else { return 0 }
      guard let entry else { return try tree.count(in: .prefix(prefix)) }
      let key = KeyCoder.listKey(owner, entry)
      return try tree.count(in: KeyRange(lower: .including(prefix), upper: .excluding(key)))
    }
  }

  func place(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) throws(ContextError) -> ListPlace? {
    counters.singleReads += 1
    let value = try ContextError.mapping { () throws(StoreError) in
      try tree(named: places.linkTreeName)?.value(for: KeyCoder.pair(owner, element))
    }
    guard let value else { return nil }
    if let entry = ListEntry(linkValue: value, number: element) { return entry.place }
    throw ContextError(
      .corrupt,
      "a link of \(schema.entities[places.entity].name) \(owner) has a value that is not a place"
    )
  }
}

extension KeyCoder {
  /// Returns the beginning of the keys of an owner's members in a table of lists.
  static func listPrefix(of owner: ObjectNumber) -> [UInt8] {
    var prefix: [UInt8] = []
    append(.reference(owner), to: &prefix)
    return prefix
  }

  /// Returns the owner and the member of a key in a table of lists; nil for any other key. The owner is `none` if
  /// the to-one relationship is nil.
  static func listMember(ofKey key: UnsafeRawBufferPointer) -> (owner: ObjectNumber, ListEntry)? {
    var reader = KeyReader(key)
    guard let owner = reader.next(.reference) else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: key[(key.count - reader.remaining)...])
    guard let entry = ListEntry(key: rest, behind: 0) else { return nil }
    if owner.isNull { return (.none, entry) }
    guard case .reference(let number) = owner else { return nil }
    return (number, entry)
  }

  /// Returns the key of a member in a table of lists.
  static func listKey(_ owner: ObjectNumber, _ entry: ListEntry) -> [UInt8] {
    var key = listPrefix(of: owner)
    append(entry.place._attributeValue, to: &key)
    append(number: entry.number, to: &key)
    return key
  }
}

extension ListEntry {
  /// The entry of a key, whose first bytes are its owner's; nil if it is no key of an entry.
  fileprivate init?(key: UnsafeRawBufferPointer, behind byteCount: Int) {
    var reader = KeyReader(UnsafeRawBufferPointer(rebasing: key[byteCount...]))
    guard let value = reader.next(.place), let place = ListPlace(_attributeValue: value),
      reader.remaining == KeyCoder.numberByteCount, let number = KeyCoder.number(ending: key)
    else { return nil }
    self.init(place: place, number: number)
  }
}
