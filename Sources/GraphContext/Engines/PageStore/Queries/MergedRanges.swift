import Predicates

/// The merged objects of several index ranges: each once, ascending.
enum MergedRanges {
  /// - Parameter access: an index, a union or an intersection; any other path gives no numbers.
  static func numbers(_ access: AccessPath, in view: StoreView) throws -> [ObjectNumber] {
    switch access {
    case .nothing, .fullScan, .objects: []
    case .index(let scan): try union([scan], in: view)
    case .union(let scans): try union(scans, in: view)
    case .intersection(let scans): try intersection(scans, in: view)
    }
  }

  private static func union(_ scans: [IndexScan], in view: StoreView) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    for scan in scans {
      try forEachNumber(of: scan, in: view) { numbers.append($0) }
    }
    return ascending(numbers)
  }

  /// Returns the objects that are in all ranges: the objects of the first range are filtered by the second, the
  /// remaining ones by the third, and so on.
  private static func intersection(_ scans: [IndexScan], in view: StoreView) throws -> [ObjectNumber] {
    guard let first = scans.first else { return [] }
    var numbers = try union([first], in: view)
    for scan in scans.dropFirst() where !numbers.isEmpty {
      let set = NumberSet(numbers)
      numbers.removeAll(keepingCapacity: true)
      try forEachNumber(of: scan, in: view) { if set.contains($0) { numbers.append($0) } }
      numbers = ascending(numbers)
    }
    return numbers
  }

  private static func forEachNumber(
    of scan: IndexScan,
    in view: StoreView,
    _ body: (ObjectNumber) -> Void
  ) throws {
    var walker = try IndexWalker(scan, in: view)
    while try walker.next() { body(try walker.number()) }
  }

  /// Sorted, each once: an object is in several ranges of a union, and a damaged index may have it more than once.
  private static func ascending(_ numbers: [ObjectNumber]) -> [ObjectNumber] {
    let isAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    if isAscending { return numbers }
    var last: ObjectNumber?
    return numbers.sorted().filter { number in
      defer { last = number }
      return number != last
    }
  }
}

/// A set of the numbers in a list: a bit for each number in the list's range; or the list itself, if there would be
/// too many bits.
private struct NumberSet {
  private let numbers: [ObjectNumber]
  private let first: ObjectNumber
  private var bits: [UInt64] = []

  /// The most memory that the bits may take for each number in the list, in words.
  private static let wordsPerNumber = 4

  /// - Parameter numbers: ascending, not empty.
  init(_ numbers: [ObjectNumber]) {
    self.numbers = numbers
    first = numbers[0]
    let wordCount = (numbers[numbers.count - 1].rawValue - first.rawValue) / 64 + 1
    guard wordCount <= UInt64(numbers.count * Self.wordsPerNumber) else { return }
    bits = [UInt64](repeating: 0, count: Int(wordCount))
    for number in numbers {
      let distance = number.rawValue - first.rawValue
      bits[Int(distance / 64)] |= 1 << (distance % 64)
    }
  }

  func contains(_ number: ObjectNumber) -> Bool {
    if bits.isEmpty { return numbers.contains(sorted: number) { $0 } }
    guard number >= first else { return false }
    let distance = number.rawValue - first.rawValue
    guard distance / 64 < UInt64(bits.count) else { return false }
    return bits[Int(distance / 64)] & (1 << (distance % 64)) != 0
  }
}
