/// A set of values of one attribute, which may include nil and NaN. It expresses any number of comparisons with
/// literals.
///
/// AND, OR and NOT of comparisons of one attribute are intersection, union and complement here. So ranges merge,
/// contradictions become the empty set, and tautologies become the set of all values.
package struct ValueSet: Sendable, Hashable {
  let kind: AttributeKind
  /// The folding of strings before they are looked up in the set; its own members are folded already.
  package let folding: StringOptions
  /// The cuts at which membership changes: the set begins at the cuts at even positions and ends at those at
  /// odd ones. Invariant: ascending, no two equal, each canonical for the kind, an even number of them.
  private var cuts: ValueCuts

  private init(kind: AttributeKind, folding: StringOptions = [], cuts: ValueCuts) {
    self.kind = kind
    self.folding = folding
    self.cuts = cuts
  }

  /// Makes the set of the values from `lower` to `upper`.
  init(_ kind: AttributeKind, from lower: ValueCut, to upper: ValueCut) {
    let (lower, upper) = (lower.canonical(for: kind), upper.canonical(for: kind))
    self.init(kind: kind, cuts: lower < upper ? ValueCuts(lower, upper) : ValueCuts())
  }

  /// Makes the set of one value, which may be nil or NaN.
  init(_ kind: AttributeKind, only value: AttributeValue) {
    // The cuts around a text are canonical and in order already; comparing them would read the text.
    if case .string(let text) = value, kind == .string, !text.utf8.isEmpty {
      self.init(kind: kind, cuts: ValueCuts(.before(value), .after(value)))
      return
    }
    self.init(kind, from: .before(value), to: .after(value))
  }

  /// Makes the set of the given values. O(n log n).
  package init(_ kind: AttributeKind, anyOf values: some Collection<AttributeValue>) {
    let sorted = values.sorted { ValueComparison.sortOrder($0, $1) < 0 }
    var cuts: [ValueCut] = []
    for value in sorted {
      let lower = ValueCut.before(value).canonical(for: kind)
      let upper = ValueCut.after(value).canonical(for: kind)
      guard lower < upper, cuts.last.map({ $0 < upper }) ?? true else { continue }
      if cuts.last == lower { cuts.removeLast() } else { cuts.append(lower) }
      cuts.append(upper)
    }
    self.init(kind: kind, cuts: ValueCuts(cuts))
  }

  static func empty(_ kind: AttributeKind) -> ValueSet { ValueSet(kind: kind, cuts: ValueCuts()) }
  static func all(_ kind: AttributeKind) -> ValueSet {
    ValueSet(kind: kind, cuts: ValueCuts(.lowest, .highest))
  }
  static func null(_ kind: AttributeKind) -> ValueSet {
    ValueSet(kind: kind, cuts: ValueCuts(.lowest, .afterNull))
  }

  /// Returns the set of every value that compares: not nil, not NaN.
  static func comparable(_ kind: AttributeKind) -> ValueSet {
    ValueSet(kind, from: .afterNull, to: kind.comparableEnd)
  }

  /// Returns the strings that, once folded, are in this set of folded strings. Nil is nil, folded or not.
  func folding(_ options: StringOptions) -> ValueSet {
    if options == folding { return self }
    let isAboutNilAlone = cuts.allSatisfy { $0 <= .afterNull || $0 == .highest }
    return isAboutNilAlone ? self : ValueSet(kind: kind, folding: options, cuts: cuts)
  }
}

// MARK: - Algebra

extension ValueSet {
  package var isEmpty: Bool { cuts.isEmpty }
  var isEverything: Bool { cuts.areEverything }
  var includesNull: Bool { cuts.first == .lowest }

  /// Returns whether the value, folded already, is in the set. O(log n).
  func contains(_ value: AttributeValue) -> Bool {
    let place = ValueCut.before(value)
    // −∞ is spelled `afterNull`, as is every kind's first value: the cut before it compares as below the value itself.
    return (0..<cuts.count).partitionPoint { cuts[$0] > place } % 2 == 1
  }

  var complement: ValueSet {
    var result = ValueCuts()
    if cuts.first != .lowest { result.append(.lowest) }
    for cut in cuts where cut != .lowest && cut != .highest { result.append(cut) }
    if cuts.last != .highest { result.append(.highest) }
    return ValueSet(kind: kind, folding: folding, cuts: result)
  }

  /// Returns the union of two sets with the same folding, like ``intersection(_:)``.
  func union(_ other: ValueSet) -> ValueSet { combine(with: other) { $0 || $1 } }
  func intersection(_ other: ValueSet) -> ValueSet {
    if let cuts = ValueCuts.between(cuts, other.cuts) {
      return ValueSet(kind: kind, folding: folding, cuts: cuts)
    }
    return combine(with: other) { $0 && $1 }
  }

  /// Sweeps over both sets' cuts and keeps those where the combined membership changes. O(n + m).
  private func combine(with other: ValueSet, _ isMember: (Bool, Bool) -> Bool) -> ValueSet {
    var result = ValueCuts()
    var (i, j) = (0, 0)
    var inside = false
    while i < cuts.count || j < other.cuts.count {
      let cut =
        i == cuts.count ? other.cuts[j] : j == other.cuts.count ? cuts[i] : min(cuts[i], other.cuts[j])
      if i < cuts.count, cuts[i] == cut { i += 1 }
      if j < other.cuts.count, other.cuts[j] == cut { j += 1 }
      let now = isMember(i % 2 == 1, j % 2 == 1)
      if now != inside {
        result.append(cut)
        inside = now
      }
    }
    return ValueSet(kind: kind, folding: folding, cuts: result)
  }
}

// MARK: - Segments

extension ValueSet {
  /// A run of neighbouring values that are all in the set.
  package struct Segment: Sendable, Hashable {
    package var lower: ValueCut
    package var upper: ValueCut

    static let everything = Segment(lower: .lowest, upper: .highest)

    /// The only value of the segment, which may be nil or NaN.
    var point: AttributeValue? {
      switch (lower, upper) {
      case (.lowest, .after(.null)): .null
      case (.before(let low), .after(let high)) where ValueComparison.sortOrder(low, high) == 0: low
      case (.before(let value), .highest) where value.isNaN: value
      default: nil
      }
    }
  }

  /// The number of runs of the set.
  var segmentCount: Int { cuts.count / 2 }

  /// The runs, ascending. Bounds are included ones where the kind has successors.
  var segments: [Segment] {
    stride(from: 0, to: cuts.count, by: 2).map { segment(cuts[$0], cuts[$0 + 1]) }
  }

  /// The segment from the first to the last member.
  var hull: Segment? {
    guard let first = cuts.first, let last = cuts.last else { return nil }
    return segment(first, last)
  }

  /// The cuts at which membership changes, ascending. Values before the first cut are no members.
  var boundaries: [ValueCut] { Array(cuts) }

  /// The members, if there is only one; nil and NaN count.
  package var point: AttributeValue? {
    segmentCount == 1 ? hull?.point : nil
  }

  /// Returns the members, if each stands alone and their number is at most `limit`.
  func points(atMost limit: Int) -> [AttributeValue]? {
    guard segmentCount <= limit else { return nil }
    var result: [AttributeValue] = []
    for place in stride(from: 0, to: cuts.count, by: 2) {
      guard let point = segment(cuts[place], cuts[place + 1]).point else { return nil }
      result.append(point)
    }
    return result
  }

  /// Returns the members one by one, if their number is at most `limit`: also those of ranges, in kinds whose values
  /// can be enumerated.
  func members(atMost limit: Int) -> [AttributeValue]? {
    guard segmentCount <= limit else { return nil }
    var result: [AttributeValue] = []
    for segment in segments {
      if let point = segment.point {
        result.append(point)
        continue
      }
      guard case .before(var value) = segment.lower, case .after(let last) = segment.upper else { return nil }
      result.append(value)
      while ValueComparison.sortOrder(value, last) < 0 {
        guard result.count < limit, let next = kind.successor(of: value) else { return nil }
        value = next
        result.append(value)
      }
    }
    return result.count <= limit ? result : nil
  }

  private func segment(_ lower: ValueCut, _ upper: ValueCut) -> Segment {
    var segment = Segment(lower: lower, upper: upper)
    if case .before(let value) = upper, let last = kind.predecessor(of: value) {
      segment.upper = .after(last)
    }
    // The canonical spelling of their cuts doesn't contain the least and the greatest value, so a point is made for
    // these values.
    if lower == .afterNull, case .after(let value) = segment.upper, kind.isAtOrBelowFirst(value) {
      segment.lower = .before(value)
    }
    if upper == kind.comparableEnd, case .before(let value) = lower, kind.isAtOrAboveLast(value) {
      segment.upper = .after(value)
    }
    return segment
  }
}
