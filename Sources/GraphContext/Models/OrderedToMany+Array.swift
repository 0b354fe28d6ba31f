// Methods that arrays have, built from the operations on positions.

extension OrderedToMany {
  /// The valid positions. O(log n) in a context.
  public var indices: Range<Int> { 0..<count }

  /// The object at the first position, as a fault; nil if there is none. O(log n) in a context.
  public var first: Element? { isEmpty ? nil : self[0] }

  /// The object at the last position, as a fault; nil if there is none. O(log n) in a context.
  public var last: Element? { isEmpty ? nil : self[count - 1] }

  /// Returns the objects at these positions, as faults: `tracks[1...3]`, `tracks[50...]`. O(log n + positions) in a
  /// context.
  public subscript(positions: some RangeExpression<Int>) -> [Element] {
    self[positions.relative(to: indices)]
  }

  /// Takes the first object out. Returns the object. O(log n) in a context.
  ///
  /// - Precondition: there is one.
  @discardableResult
  public mutating func removeFirst() -> Element { remove(at: 0) }

  /// Takes the last object out. Returns the object. O(log n) in a context.
  ///
  /// - Precondition: there is one.
  @discardableResult
  public mutating func removeLast() -> Element { remove(at: count - 1) }

  /// Takes the objects at these positions out. O(positions · log n) in a context.
  public mutating func removeSubrange(_ positions: some RangeExpression<Int>) {
    for element in self[positions] { remove(element) }
  }

  /// Takes all objects out. O(n log n) in a context.
  public mutating func removeAll() { removeAll { _ in true } }

  /// Takes the objects out for which the closure returns true. O(n log n) in a context.
  public mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    for element in try filter(shouldBeRemoved) { remove(element) }
  }

  /// Exchanges the objects at two positions. O(log n) in a context.
  public mutating func swapAt(_ one: Int, _ other: Int) {
    if one == other { return }
    let (low, high) = (Swift.min(one, other), Swift.max(one, other))
    move(from: high, to: low)
    move(from: low + 1, to: high)
  }

  /// Puts the objects into the order of the closure; equal ones stay in theirs. O(n log n) in a context.
  public mutating func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    insert(contentsOf: try sorted(by: areInIncreasingOrder), at: 0)
  }

  /// Puts the last object first, and so on. O(n log n) in a context.
  public mutating func reverse() { insert(contentsOf: reversed(), at: 0) }
}
