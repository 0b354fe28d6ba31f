/// A few cuts between values, ascending. Up to two cuts are stored inline, so a single range needs no memory of its
/// own.
struct ValueCuts: Sendable, Hashable {
  /// The storage of the cuts. A list has one spelling: `many` has three or more.
  private enum Storage: Sendable, Hashable {
    case none
    case one(ValueCut)
    case two(ValueCut, ValueCut)
    case many([ValueCut])
  }
  private var storage: Storage

  init() { storage = .none }

  init(_ first: ValueCut, _ second: ValueCut) { storage = .two(first, second) }

  init(_ cuts: some Collection<ValueCut>) {
    if cuts.count > 2 {
      storage = .many(Array(cuts))
    } else {
      storage = .none
      for cut in cuts { append(cut) }
    }
  }

  mutating func append(_ cut: ValueCut) {
    switch storage {
    case .none: storage = .one(cut)
    case .one(let first): storage = .two(first, cut)
    case .two(let first, let second): storage = .many([first, second, cut])
    case .many(var cuts):
      // Emptying `storage` leaves one reference to the array, so that appending doesn't copy it.
      storage = .none
      cuts.append(cut)
      storage = .many(cuts)
    }
  }
}

extension ValueCuts {
  /// True if these are the two cuts around all values.
  var areEverything: Bool { if case .two(.lowest, .highest) = storage { true } else { false } }

  /// Returns the cuts of the intersection of two ranges; nil if either list isn't a pair.
  static func between(_ left: ValueCuts, _ right: ValueCuts) -> ValueCuts? {
    guard case .two(let a, let b) = left.storage, case .two(let c, let d) = right.storage else { return nil }
    let (lower, upper) = (c > a ? c : a, d < b ? d : b)
    return lower < upper ? ValueCuts(lower, upper) : ValueCuts()
  }
}

extension ValueCuts: RandomAccessCollection {
  var startIndex: Int { 0 }

  var endIndex: Int {
    switch storage {
    case .none: 0
    case .one: 1
    case .two: 2
    case .many(let cuts): cuts.count
    }
  }

  subscript(place: Int) -> ValueCut {
    switch storage {
    case .one(let cut) where place == 0: return cut
    case .two(let first, _) where place == 0: return first
    case .two(_, let second) where place == 1: return second
    case .many(let cuts): return cuts[place]
    case .none, .one, .two: fatalError("there is no cut \(place) among \(count)")
    }
  }
}
