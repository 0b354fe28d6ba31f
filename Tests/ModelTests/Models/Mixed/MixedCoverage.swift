/// How often random steps changed values of each kind, and in which ways.
struct MixedCoverage {
  enum Kind: String, CaseIterable {
    case attribute, list, codedValue, transformedValue, embeddedValue, externalValue, ofSubclass,
      derivedNumber, derivedText,
      orderedPlace, manyToMany
  }

  enum Way: String, CaseIterable {
    case context, child, batch, merge, undo, rollback

    /// - Parameter step: as ``MixedRun`` draws it.
    init(step: Int, isChild: Bool) {
      switch step {
      case 15: self = .rollback
      case 16: self = .child
      case 17...19: self = .batch
      case 20, 21: self = .undo
      case 22, 23: self = .merge
      default: self = isChild ? .child : .context
      }
    }
  }

  private var counts: [Kind: [Way: Int]] = [:]

  mutating func note(_ before: PlainChests, _ after: PlainChests, _ way: Way) {
    for kind in Self.kinds(from: before, to: after) { counts[kind, default: [:]][way, default: 0] += 1 }
  }

  /// The kinds of which no context, no child and, where they could, no batch and no merge changed a value.
  var missing: [String] {
    Kind.allCases.flatMap { kind in
      let ways: [Way] = [.context, .child] + (kind.isSetByBatches ? [.batch, .merge] : [])
      return ways.filter { counts[kind]?[$0] == nil }.map { "\(kind.rawValue) by \($0.rawValue)" }
    }
  }

  /// A line for each kind.
  var table: String {
    Kind.allCases.map { kind in
      let ways = Way.allCases.map { "\($0.rawValue) \(counts[kind]?[$0] ?? 0)" }
      return "\(kind.rawValue): \(ways.joined(separator: ", "))"
    }
    .joined(separator: "\n")
  }

  private static func kinds(from before: PlainChests, to after: PlainChests) -> Set<Kind> {
    var kinds: Set<Kind> = []
    for code in Set(before.items.keys).union(after.items.keys) {
      // A missing item counts as an item without values.
      let old = before.items[code] ?? PlainItem(code: code)
      kinds.formUnion(old.kinds(changedIn: after.items[code] ?? PlainItem(code: code)))
    }
    if before.chests != after.chests { kinds.insert(.orderedPlace) }
    if before.loads != after.loads { kinds.insert(.derivedNumber) }
    return kinds
  }
}

extension MixedCoverage.Kind {
  /// True if batches, and new objects with an existing code, set values of this kind.
  fileprivate var isSetByBatches: Bool {
    switch self {
    case .attribute, .list, .externalValue, .derivedText: true
    default: false
    }
  }
}

extension PlainChests {
  /// The values that the chests' derived numbers are derived from.
  fileprivate var loads: [String: [Int]] {
    chests.mapValues { codes in [codes.count, codes.compactMap { items[$0]?.weight }.reduce(0, +)] }
  }
}

extension PlainItem {
  fileprivate func kinds(changedIn other: PlainItem) -> Set<MixedCoverage.Kind> {
    let changes: [(MixedCoverage.Kind, Bool)] = [
      (.attribute, title != other.title || weight != other.weight),
      (.list, tags != other.tags),
      (.codedValue, packing != other.packing),
      (.transformedValue, tint != other.tint),
      (.embeddedValue, size != other.size),
      (.externalValue, photo != other.photo || notes != other.notes),
      (.ofSubclass, isJar != other.isJar || volume != other.volume),
      (.derivedText, title.lowercased() != other.title.lowercased()),
      (.manyToMany, stickers != other.stickers),
    ]
    return Set(changes.filter(\.1).map(\.0))
  }
}
