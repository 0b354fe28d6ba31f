import Predicates

/// One state of a live list: which objects it has, and at which positions. A state doesn't change with the context. It
/// stays the same until the list moves on.
protocol ListContent: AnyObject, SectionedList {
  /// Bytes of memory, without the snapshot and its pages.
  var byteCount: Int { get }
  /// Entries of trees that have been read so far.
  var entriesWalked: Int { get }
  /// Returns the objects at some positions, which must exist.
  func numbers(at range: Range<Int>) throws(ContextError) -> [ObjectNumber]
  /// Returns the present state, as content that doesn't change when the list moves on.
  func kept() -> any ListContent
  /// Returns the position of each of some objects; nil for one that isn't in the list.
  func positions(of numbers: [ObjectNumber]) throws(ContextError) -> [Int?]
}

/// The numbers of a list's objects in its order: 8 bytes each.
final class NumberedContent: ListContent {
  private(set) var numbers: [ObjectNumber]

  init(_ numbers: [ObjectNumber]) { self.numbers = numbers }

  var count: Int { numbers.count }
  var byteCount: Int { numbers.count * MemoryLayout<ObjectNumber>.stride }
  /// 0: the entries count for the query that has found the numbers.
  var entriesWalked: Int { 0 }

  func numbers(at range: Range<Int>) -> [ObjectNumber] { Array(numbers[range]) }

  /// Returns the present state. O(1): the array is copied if the list changes it meanwhile.
  func kept() -> any ListContent { NumberedContent(numbers) }

  func hasGroups(of path: ResolvedPath) -> Bool { false }

  func forEachGroup(
    of path: ResolvedPath,
    from position: Int,
    _ body: (AttributeValue, Int) throws -> Bool
  ) {}

  /// Returns the positions of some objects. O(list + numbers).
  func positions(of wanted: [ObjectNumber]) -> [Int?] {
    if wanted.count <= Self.fewNumbers { return wanted.map(position) }
    var places: [ObjectNumber: Int] = [:]
    let filter = NumberFilter(wanted)
    for number in wanted { places[number] = -1 }
    numbers.withUnsafeBufferPointer { numbers in
      for position in numbers.indices where filter.mayContain(numbers[position]) {
        if places[numbers[position]] != nil { places[numbers[position]] = position }
      }
    }
    return wanted.map { number in places[number].flatMap { $0 < 0 ? nil : $0 } }
  }

  /// Searches the list block by block. A block is tested without a branch, so that the compiler can compare several
  /// numbers at once.
  private func position(of number: ObjectNumber) -> Int? {
    numbers.withUnsafeBufferPointer { numbers in
      var start = 0
      while start < numbers.count {
        let block = numbers[start..<min(start + 512, numbers.count)]
        var matches: UInt64 = 0
        for other in block { matches |= other.rawValue == number.rawValue ? 1 : 0 }
        if matches != 0 { return block.firstIndex(of: number) }
        start = block.endIndex
      }
      return nil
    }
  }

  /// Up to this number, one pass for each number costs less than one pass that looks for all of them.
  private static let fewNumbers = 2

  /// Takes numbers away from old positions, and puts others in at new ones. Both ascend. O(list).
  func apply(_ edit: NumberEdit) {
    guard edit.removed.count + edit.inserted.count > Self.fewSteps else {
      for position in edit.removed.reversed() { numbers.remove(at: position) }
      for (position, number) in edit.inserted { numbers.insert(number, at: position) }
      return
    }
    var new: [ObjectNumber] = []
    new.reserveCapacity(numbers.count - edit.removed.count + edit.inserted.count)
    var (start, place) = (0, 0)
    func appendStaying(upTo count: Int) {
      while new.count < count {
        let end = place < edit.removed.count ? edit.removed[place] : numbers.count
        let next = min(end, start + count - new.count)
        new += numbers[start..<next]
        start = next
        guard start == end, place < edit.removed.count else { continue }
        (start, place) = (end + 1, place + 1)
      }
    }
    for (position, number) in edit.inserted {
      appendStaying(upTo: position)
      new.append(number)
    }
    appendStaying(upTo: numbers.count - edit.removed.count + edit.inserted.count)
    numbers = new
  }

  /// Up to this number of steps, moving the rest of the array for each step takes less time than copying the whole
  /// array.
  private static let fewSteps = 4
}

/// A change of a list of numbers: which are removed, and which are inserted.
struct NumberEdit {
  /// Old positions, ascending.
  let removed: [Int]
  /// New positions, ascending.
  let inserted: [(position: Int, number: ObjectNumber)]
}

/// A quick test that most numbers which are not in a set fail.
struct NumberFilter {
  private let bits: [UInt64]
  private let mask: UInt64

  init(_ numbers: some Collection<ObjectNumber>) {
    var bitCount: UInt64 = 1_024
    while bitCount < 16 * UInt64(numbers.count) { bitCount *= 2 }
    mask = bitCount - 1
    var bits = [UInt64](repeating: 0, count: Int(bitCount / 64))
    for number in numbers {
      let bit = number.rawValue & mask
      bits[Int(bit / 64)] |= 1 << (bit % 64)
    }
    self.bits = bits
  }

  func mayContain(_ number: ObjectNumber) -> Bool {
    // No bit is beyond the mask.
    let bit = number.rawValue & mask
    return bits[Int(bit / 64)] & (1 << (bit % 64)) != 0
  }
}
