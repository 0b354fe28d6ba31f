extension FetchedResults {
  /// An iterator over the objects that the list has when the loop begins, in their order, even if the list changes
  /// meanwhile. Objects that were deleted meanwhile are included, as deleted ones.
  ///
  /// A change of the list within the loop costs what ``ListSection`` says of a section that is kept.
  public struct Iterator: IteratorProtocol {
    private let list: FetchedResults
    private let state: ListArrangement
    private let version: Int
    private let count: Int
    private var position = 0

    init(_ list: FetchedResults) {
      self.list = list
      (state, version, count) = (list.arrangement(isDivided: false), list.version, list.endIndex)
    }

    /// Returns the next object; nil at the end, and once the context is released.
    public mutating func next() -> Object? {
      guard position < count, list.context != nil else { return nil }
      defer { position += 1 }
      // The list reads objects in groups.
      return list.version == version ? list[position] : list.object(at: position, of: state)
    }
  }

  /// Begins a loop: `for song in songs { … }`. O(1).
  public func makeIterator() -> Iterator { Iterator(self) }
}
