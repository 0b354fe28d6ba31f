import Predicates

/// The objects of one entity that a context knows, by number: one object for each.
///
/// The map holds its objects strongly, and releases those that nothing else holds when it has doubled in size since it
/// last looked. So nothing has to happen in an object's `deinit`, which may run on any thread: an object that is in the
/// map can't be deinitialised, and a count that only goes down elsewhere can at worst keep one until the next sweep.
/// Docs/Decisions/0013-the-identity-map-is-strong-and-swept.md has the measurements and the roads not taken.
///
/// The objects stand in the order in which they came, which is about that of their memory, so that those that are let go of are
/// freed in order. A table with open addressing and linear probing, at most half of it taken, leads to them.
struct IdentityMap {
  private struct Entry {
    var number: ObjectNumber
    /// Nil after the object was removed.
    var object: AnyObject?
  }
  private var entries: [Entry] = []
  /// The table: a number, or none where the place is free, and beside it where the number's entry is.
  private var numbers: [ObjectNumber] = []
  private var entryPlaces: [UInt32] = []
  private(set) var count = 0
  /// The number of sweeps so far. A sweep frees objects that only the map holds, and a new object may get the address of a freed one.
  private(set) var sweepNumber = 0
  /// The count at which the next insertion sweeps.
  private var sweepCount = Self.smallestSweepCount

  private static let smallestSweepCount = 1_024

  /// The object of this number. O(1).
  subscript(number: ObjectNumber) -> AnyObject? {
    guard count > 0, let place = place(of: number) else { return nil }
    return entries[Int(entryPlaces[place])].object
  }

  /// Adds an object whose number is not in the map. O(1) on average.
  mutating func insert(_ object: AnyObject, number: ObjectNumber) {
    if count >= sweepCount { sweep() }
    if 2 * (count + 1) > numbers.count {
      rebuild(capacity: max(16, 2 * numbers.count))
    } else if entries.count >= numbers.count {
      // Full of what was removed.
      rebuild(capacity: numbers.count)
    }
    entries.append(Entry(number: number, object: object))
    enter(number, at: entries.count - 1)
    count += 1
  }

  /// Makes room for so many more objects, releasing first the objects that nothing else holds: the new ones can come in without another
  /// look at those that are there.
  mutating func reserve(_ additionalCount: Int) {
    guard count + additionalCount > sweepCount else { return }
    sweep()
    let capacity = Self.capacity(for: count + additionalCount)
    if capacity > numbers.count { rebuild(capacity: capacity) }
    sweepCount = max(sweepCount, count + additionalCount)
  }

  var isEmpty: Bool { count == 0 }

  /// Every object, in no order.
  var all: [AnyObject] { entries.compactMap(\.object) }

  /// Removes an object. O(1) on average.
  mutating func remove(_ number: ObjectNumber) {
    guard count > 0, let place = place(of: number) else { return }
    entries[Int(entryPlaces[place])].object = nil
    count -= 1
    closeGap(at: place)
  }

  /// Forgets every object.
  ///
  /// - Returns: the objects that something else holds too.
  mutating func removeAll() -> [AnyObject] {
    freeUnheld()
    let held = all
    self = IdentityMap()
    return held
  }

  /// Releases the objects that nothing else holds.
  mutating func sweep() {
    sweepNumber += 1
    freeUnheld()
    count = entries.count { $0.object != nil }
    rebuild(capacity: Self.capacity(for: count + 1))
    sweepCount = max(Self.smallestSweepCount, 2 * count)
  }

  /// Drops each while its memory is at hand; the table is not brought up to date.
  private mutating func freeUnheld() {
    for place in entries.indices where isKnownUniquelyReferenced(&entries[place].object) {
      entries[place].object = nil
    }
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
    numbers = Array(repeating: .none, count: capacity)
    entryPlaces = Array(repeating: 0, count: capacity)
    for place in entries.indices { enter(entries[place].number, at: place) }
  }

  private mutating func enter(_ number: ObjectNumber, at entryPlace: Int) {
    var place = home(number)
    while !numbers[place].isNone { place = (place &+ 1) & (numbers.count &- 1) }
    numbers[place] = number
    entryPlaces[place] = UInt32(entryPlace)
  }

  private func place(of number: ObjectNumber) -> Int? {
    var place = home(number)
    while !numbers[place].isNone {
      if numbers[place] == number { return place }
      place = (place &+ 1) & (numbers.count &- 1)
    }
    return nil
  }

  private func home(_ number: ObjectNumber) -> Int {
    // Fibonacci hashing: consecutive numbers spread, and the high bits are the good ones.
    let shift = UInt64(64 - numbers.count.trailingZeroBitCount)
    return Int(truncatingIfNeeded: (number.rawValue &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Frees a place, and moves back what could no longer be found behind it.
  private mutating func closeGap(at gap: Int) {
    var gap = gap
    var place = gap
    let mask = numbers.count - 1
    while true {
      place = (place + 1) & mask
      if numbers[place].isNone { break }
      let distanceFromHome = (place - home(numbers[place])) & mask
      if distanceFromHome >= (place - gap) & mask {
        numbers[gap] = numbers[place]
        entryPlaces[gap] = entryPlaces[place]
        gap = place
      }
    }
    numbers[gap] = .none
  }
}
