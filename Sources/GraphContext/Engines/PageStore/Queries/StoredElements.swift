import PageStore
import Predicates

/// The elements of one to-many relationship, by their owners, in a snapshot that is merged with unsaved links.
final class StoredElements {
  private let view: StoreView
  private let table: LinkTable
  private let pending: PendingLinks?
  /// Nil until elements are asked for.
  private var walker: LinkWalker?

  init(_ table: LinkTable, in view: StoreView, _ pending: PendingRecords?) {
    self.view = view
    self.table = table
    self.pending = pending?.links(in: table)
  }

  /// Returns the elements' numbers, ascending. O(log n + elements); O(elements) for the owner that follows the
  /// previous one.
  func numbers(of owner: ObjectNumber) throws(ContextError) -> [ObjectNumber] {
    let stored = try ContextError.mapping { () throws(StoreError) in try storedNumbers(of: owner) }
    return pending?.elements(of: owner, stored: stored) ?? stored
  }

  private func storedNumbers(of owner: ObjectNumber) throws(StoreError) -> [ObjectNumber] {
    if walker == nil { walker = try view.tree(named: table.treeName).map { LinkWalker($0) } }
    return try walker?.elements(of: owner) ?? []
  }

  /// Returns the number of elements. O(log n).
  func count(of owner: ObjectNumber) throws(ContextError) -> Int {
    try view.elementCount(of: owner, in: table) + (pending?.difference(of: owner) ?? 0)
  }
}

/// Walks through a tree of pairs of numbers, the owner's and the element's: the elements of one owner after those
/// of another, by short steps in the tree if the owners ascend.
private struct LinkWalker: ~Copyable {
  private var cursor: TreeCursor

  init(_ tree: TreeReader) { cursor = tree.cursor() }

  mutating func elements(of owner: ObjectNumber) throws(StoreError) -> [ObjectNumber] {
    // No key is as short as the owner's number: the cursor moves to the first that begins with it, or comes after.
    _ = try withKey(owner) { key throws(StoreError) in try cursor.find(near: key) }
    var elements: [ObjectNumber] = []
    var isAtEntry = cursor.isAtEntry
    while isAtEntry {
      let key = try cursor.key()
      guard KeyCoder.begins(key, with: owner) else { break }
      if let number = KeyCoder.number(ending: key) { elements.append(number) }
      isAtEntry = try cursor.next()
    }
    return elements
  }
}

extension StoreView {
  func elements(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> [ObjectNumber] {
    if let kept = keptElements.elements(of: owner, in: links) { return kept }
    counters.singleReads += 1
    return try elements(of: owner, inTree: links.treeName)
  }

  func keepElements(of owners: [ObjectNumber], in links: LinkTable) throws(ContextError) {
    let stored = StoredElements(links, in: self, nil)
    for owner in owners { keptElements.insert(try stored.numbers(of: owner), of: owner, in: links) }
  }

  /// Returns the numbers linked to `owner` in a tree of pairs of numbers, ascending. O(log n + elements).
  func elements(of owner: ObjectNumber, inTree name: String) throws(ContextError) -> [ObjectNumber] {
    try ContextError.mapping { () throws(StoreError) -> [ObjectNumber] in
      guard let tree = try self.tree(named: name) else { return [] }
      var walker = LinkWalker(tree)
      return try walker.elements(of: owner)
    }
  }

  /// Returns the number of elements. O(log n).
  func elementCount(of owner: ObjectNumber, in links: LinkTable) throws(ContextError) -> Int {
    if let kept = keptElements.elements(of: owner, in: links) { return kept.count }
    counters.singleReads += 1
    return try ContextError.mapping { () throws(StoreError) in
      try tree(named: links.treeName)?.count(in: .prefix(KeyCoder.key(of: owner))) ?? 0
    }
  }

  func isLinked(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in links: LinkTable
  ) throws(ContextError) -> Bool {
    if let kept = keptElements.elements(of: owner, in: links) { return kept.contains(sorted: element) { $0 } }
    counters.singleReads += 1
    return try ContextError.mapping { () throws(StoreError) in
      try tree(named: links.treeName)?.contains(KeyCoder.pair(owner, element)) ?? false
    }
  }
}
