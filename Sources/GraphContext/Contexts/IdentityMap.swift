/// The objects of one entity that a context knows, by number: one object for each.
///
/// The map holds its objects strongly, and lets go of those that nobody else holds when it has doubled in size since it
/// last looked. So nothing has to happen in an object's `deinit`, which may run on any thread: an object that is in the
/// map can't be deinitialised, and a count that only goes down elsewhere can at worst keep one until the next sweep.
/// Docs/Decisions/0013-the-identity-map-is-strong-and-swept.md has the measurements and the roads not taken.
///
/// Open addressing with linear probing; at most half of the places are taken.
struct IdentityMap {
  /// 0 where the place is free.
  private var numbers: [UInt64] = []
  private var objects: [AnyObject?] = []
  private(set) var count = 0
  /// The count at which the next insertion sweeps.
  private var sweepCount = Self.smallestSweepCount

  private static let smallestSweepCount = 1_024

  /// The object of this number. O(1).
  subscript(number: UInt64) -> AnyObject? {
    guard count > 0 else { return nil }
    var place = home(number)
    while numbers[place] != 0 {
      if numbers[place] == number { return objects[place] }
      place = (place &+ 1) & (numbers.count &- 1)
    }
    return nil
  }

  /// Adds an object whose number is not in the map. O(1) on average.
  mutating func insert(_ object: AnyObject, number: UInt64) {
    if count >= sweepCount { sweep() }
    if 2 * (count + 1) > numbers.count { resize(to: max(16, 2 * numbers.count)) }
    place(object, number)
    count += 1
  }

  /// Makes room for so many more objects, letting go first of what is in nobody's hands: they can come in without another
  /// look at those that are there.
  mutating func reserve(_ additionalCount: Int) {
    guard count + additionalCount > sweepCount else { return }
    sweep()
    var capacity = max(16, numbers.count)
    while capacity < 2 * (count + additionalCount) { capacity *= 2 }
    if capacity > numbers.count { resize(to: capacity) }
    sweepCount = max(sweepCount, count + additionalCount)
  }

  /// Every object, in no order.
  var all: [AnyObject] { objects.compactMap { $0 } }

  /// Removes an object. O(1) on average.
  mutating func remove(_ number: UInt64) {
    guard count > 0 else { return }
    var place = home(number)
    while numbers[place] != number {
      if numbers[place] == 0 { return }
      place = (place &+ 1) & (numbers.count &- 1)
    }
    count -= 1
    closeGap(at: place)
  }

  /// Forgets every object.
  mutating func removeAll() { self = IdentityMap() }

  /// Lets go of the objects that nobody else holds.
  mutating func sweep() {
    var kept: [(UInt64, AnyObject)] = []
    for place in objects.indices {
      if objects[place] == nil || isKnownUniquelyReferenced(&objects[place]) { continue }
      if let object = objects[place] { kept.append((numbers[place], object)) }
    }
    numbers = []
    objects = []
    count = kept.count
    var capacity = 16
    while capacity < 2 * (kept.count + 1) { capacity *= 2 }
    resize(to: capacity)
    for (number, object) in kept { place(object, number) }
    sweepCount = max(Self.smallestSweepCount, 2 * count)
  }

  private func home(_ number: UInt64) -> Int {
    // Fibonacci hashing: consecutive numbers spread, and the high bits are the good ones.
    let shift = UInt64(64 - numbers.count.trailingZeroBitCount)
    return Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  private mutating func place(_ object: AnyObject, _ number: UInt64) {
    var place = home(number)
    while numbers[place] != 0 { place = (place &+ 1) & (numbers.count &- 1) }
    numbers[place] = number
    objects[place] = object
  }

  private mutating func resize(to capacity: Int) {
    let (oldNumbers, oldObjects) = (numbers, objects)
    numbers = Array(repeating: 0, count: capacity)
    objects = Array(repeating: nil, count: capacity)
    for (number, object) in zip(oldNumbers, oldObjects) {
      if let object { place(object, number) }
    }
  }

  /// Frees a place, and moves back what could no longer be found behind it.
  private mutating func closeGap(at gap: Int) {
    var gap = gap
    var place = gap
    let mask = numbers.count - 1
    while true {
      place = (place + 1) & mask
      if numbers[place] == 0 { break }
      let distanceFromHome = (place - home(numbers[place])) & mask
      if distanceFromHome >= (place - gap) & mask {
        numbers[gap] = numbers[place]
        objects[gap] = objects[place]
        gap = place
      }
    }
    numbers[gap] = 0
    objects[gap] = nil
  }
}
