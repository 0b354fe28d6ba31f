import Predicates

/// A set of slots, which are the attributes and to-one relationships of an entity: a bit each.
@usableFromInline
package struct SlotSet: Hashable, Sendable {
  /// The bits. That of slot 0 is the lowest.
  @usableFromInline package var rawValue: UInt64

  @inlinable @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes a set of one slot.
  ///
  /// - Parameter slot: less than ``ObjectState/maximumSlotCount``.
  @inlinable @inline(__always)
  package init(_ slot: Int) { rawValue = 1 &<< UInt64(truncatingIfNeeded: slot) }

  /// Makes a set of several slots. O(slots).
  @inlinable @inline(__always)
  package init(_ slots: some Sequence<Int>) {
    self = .empty
    for slot in slots { insert(slot) }
  }

  /// Makes a set of the first slots.
  ///
  /// - Parameter count: at most ``ObjectState/maximumSlotCount``.
  @inlinable @inline(__always)
  package init(first count: Int) { rawValue = 1 << UInt64(count) &- 1 }

  @inlinable @inline(__always)
  package static var empty: SlotSet { SlotSet(rawValue: 0) }

  /// The set of all slots that an entity can have. An entity may have fewer.
  @inlinable @inline(__always)
  package static var all: SlotSet { SlotSet(rawValue: .max) }

  /// True if the set has no slot.
  @inlinable @inline(__always)
  package var isEmpty: Bool { rawValue == 0 }

  /// The number of slots in the set.
  @inlinable @inline(__always)
  package var count: Int { rawValue.nonzeroBitCount }

  /// Returns true if the slot is in the set.
  @inlinable @inline(__always)
  package func contains(_ slot: Int) -> Bool { rawValue & (1 &<< UInt64(truncatingIfNeeded: slot)) != 0 }

  /// Adds a slot.
  @inlinable @inline(__always)
  package mutating func insert(_ slot: Int) { rawValue |= 1 &<< UInt64(truncatingIfNeeded: slot) }

  /// Removes a slot, if it is in the set.
  @inlinable @inline(__always)
  package mutating func remove(_ slot: Int) { rawValue &= ~(1 &<< UInt64(truncatingIfNeeded: slot)) }
}

// MARK: - Two sets

extension SlotSet {
  /// Returns the slots that are in either set.
  @inlinable @inline(__always)
  package func union(_ other: SlotSet) -> SlotSet { SlotSet(rawValue: rawValue | other.rawValue) }

  /// Returns the slots that are in both sets.
  @inlinable @inline(__always)
  package func intersection(_ other: SlotSet) -> SlotSet { SlotSet(rawValue: rawValue & other.rawValue) }

  /// Returns the slots that are not in the other set.
  @inlinable @inline(__always)
  package func subtracting(_ other: SlotSet) -> SlotSet { SlotSet(rawValue: rawValue & ~other.rawValue) }

  /// Returns the slots that are in one of the sets, and not in both.
  @inlinable @inline(__always)
  package func symmetricDifference(_ other: SlotSet) -> SlotSet {
    SlotSet(rawValue: rawValue ^ other.rawValue)
  }

  /// Adds the slots of the other set.
  @inlinable @inline(__always)
  package mutating func formUnion(_ other: SlotSet) { rawValue |= other.rawValue }

  /// Removes the slots that are not in the other set.
  @inlinable @inline(__always)
  package mutating func formIntersection(_ other: SlotSet) { rawValue &= other.rawValue }

  /// Removes the slots of the other set.
  @inlinable @inline(__always)
  package mutating func subtract(_ other: SlotSet) { rawValue &= ~other.rawValue }

  /// Returns true if no slot is in both sets.
  @inlinable @inline(__always)
  package func isDisjoint(with other: SlotSet) -> Bool { rawValue & other.rawValue == 0 }

  /// Returns true if all slots are in the other set.
  @inlinable @inline(__always)
  package func isSubset(of other: SlotSet) -> Bool { rawValue & ~other.rawValue == 0 }
}

// MARK: - The slots

extension SlotSet: Sequence {
  /// The slots of a set, ascending.
  @usableFromInline
  package struct Iterator: IteratorProtocol {
    @usableFromInline package var rest: UInt64

    @inlinable @inline(__always)
    package init(rest: UInt64) { self.rest = rest }

    @inlinable @inline(__always)
    package mutating func next() -> Int? {
      if rest == 0 { return nil }
      let slot = rest.trailingZeroBitCount
      rest &= rest &- 1
      return slot
    }
  }

  @inlinable @inline(__always)
  package func makeIterator() -> Iterator { Iterator(rest: rawValue) }
}

extension ResolvedIndex {
  /// The slots of the columns.
  var slotSet: SlotSet { SlotSet(rawValue: slotMask) }
}
