import Predicates

/// The objects of one entity that a context knows, by number: one object for each.
///
/// The map holds its objects strongly. Before insertions, its owner asks whether it has doubled in size since the last
/// sweep (``needsSweep(for:)``). If so, the owner takes out the objects that nothing else holds, and frees them. So an
/// object's `deinit`, which may run on any thread, has nothing to do: an object that is in the map can't be
/// deinitialised. Other threads can only lower an object's reference count, so at worst an object stays until the next
/// sweep. The map itself frees no object: a model's `deinit` is code of the program, which may ask the context.
/// Docs/Decisions/0013-the-identity-map-is-strong-and-swept.md has the measurements and the rejected alternatives.
///
/// The objects are in the order of their insertion, which is roughly that of their addresses, so that objects are freed
/// in that order. A hash table with open addressing and linear probing, at most half full, finds them.
struct IdentityMap {
  private struct Entry {
    var number: ObjectNumber
    /// The object; nil after it was removed.
    var object: AnyObject?
  }
  private var entries: [Entry] = []
  /// A slot of the table: a number, or none if the slot is free, and the position of the number's entry.
  private struct Slot {
    var number = ObjectNumber.none
    var entryPlace: UInt32 = 0
  }
  private var slots: [Slot] = []
  private(set) var count = 0
  /// The number of sweeps so far. Objects of a sweep are freed, and a new object may get the address of a freed one.
  private(set) var sweepNumber = 0
  /// The count above which a sweep is due.
  private var sweepCount = Self.smallestSweepCount

  private static let smallestSweepCount = 1_024

  /// Returns the object of this number. O(1).
  subscript(number: ObjectNumber) -> AnyObject? {
    guard count > 0, let place = place(of: number) else { return nil }
    return entries[Int(slots[place].entryPlace)].object
  }

  /// Returns whether a sweep is due before this many objects are inserted.
  func needsSweep(for additionalCount: Int) -> Bool { count + additionalCount > sweepCount }

  /// Adds an object whose number is not in the map. O(1) on average.
  mutating func insert(_ object: AnyObject, number: ObjectNumber) {
    if 2 * (count + 1) > slots.count {
      rebuild(capacity: max(16, 2 * slots.count))
    } else if entries.count >= slots.count {
      // Removed entries fill the table: rebuild it without them.
      rebuild(capacity: slots.count)
    }
    entries.append(Entry(number: number, object: object))
    enter(number, at: entries.count - 1)
    count += 1
  }

  /// Makes room for this many more objects: they can be inserted without another sweep.
  mutating func reserve(_ additionalCount: Int) {
    guard needsSweep(for: additionalCount) else { return }
    let capacity = Self.capacity(for: count + additionalCount)
    if capacity > slots.count { rebuild(capacity: capacity) }
    sweepCount = max(sweepCount, count + additionalCount)
  }

  var isEmpty: Bool { count == 0 }

  /// Every object, in no order.
  var all: [AnyObject] { entries.compactMap(\.object) }

  /// Removes an object. O(1) on average.
  mutating func remove(_ number: ObjectNumber) {
    guard count > 0, let place = place(of: number) else { return }
    entries[Int(slots[place].entryPlace)].object = nil
    count -= 1
    closeGap(at: place)
  }

  /// Empties the map.
  ///
  /// - Returns: the objects, in the order of their insertion.
  mutating func takeAll() -> [AnyObject] {
    var taken: [AnyObject] = []
    taken.reserveCapacity(count)
    for place in entries.indices {
      if let object = entries[place].object.take() { taken.append(object) }
    }
    self = IdentityMap()
    return taken
  }

  /// Removes the objects that nothing else holds. O(objects).
  ///
  /// - Returns: those objects, in the order of their insertion.
  mutating func takeUnheld() -> [AnyObject] {
    sweepNumber += 1
    var taken: [AnyObject] = []
    for place in entries.indices where isKnownUniquelyReferenced(&entries[place].object) {
      if let object = entries[place].object.take() { taken.append(object) }
    }
    count -= taken.count
    rebuild(capacity: Self.capacity(for: count + 1))
    sweepCount = max(Self.smallestSweepCount, 2 * count)
    return taken
  }

  // MARK: The table

  private static func capacity(for count: Int) -> Int {
    var capacity = 16
    while capacity < 2 * count { capacity *= 2 }
    return capacity
  }

  /// Makes the table anew, and the list of entries without those that were removed.
  private mutating func rebuild(capacity: Int) {
    entries.removeAll { $0.object == nil }
    slots = Array(repeating: Slot(), count: capacity)
    for place in entries.indices { enter(entries[place].number, at: place) }
  }

  private mutating func enter(_ number: ObjectNumber, at entryPlace: Int) {
    var place = home(number)
    while !slots[place].number.isNone { place = (place &+ 1) & (slots.count &- 1) }
    slots[place] = Slot(number: number, entryPlace: UInt32(entryPlace))
  }

  private func place(of number: ObjectNumber) -> Int? {
    var place = home(number)
    while !slots[place].number.isNone {
      if slots[place].number == number { return place }
      place = (place &+ 1) & (slots.count &- 1)
    }
    return nil
  }

  /// Returns the slot at which the search for a number begins.
  ///
  /// Eight consecutive numbers, such as those of objects that are made or fetched together, have adjacent slots: two
  /// lines of the processor's cache. Groups of eight are spread by Fibonacci hashing, whose high bits are the good
  /// ones.
  private func home(_ number: ObjectNumber) -> Int {
    let shift = UInt64(67 - slots.count.trailingZeroBitCount)
    let group = ((number.rawValue >> 3) &* 0x9E37_79B9_7F4A_7C15) >> shift
    return Int(truncatingIfNeeded: group << 3 | number.rawValue & 7)
  }

  /// Frees a slot, and moves back the entries behind it that could no longer be found.
  private mutating func closeGap(at gap: Int) {
    var gap = gap
    var place = gap
    let mask = slots.count - 1
    while true {
      place = (place + 1) & mask
      if slots[place].number.isNone { break }
      let distanceFromHome = (place - home(slots[place].number)) & mask
      if distanceFromHome >= (place - gap) & mask {
        slots[gap] = slots[place]
        gap = place
      }
    }
    slots[gap] = Slot()
  }
}
