@testable import Predicates

/// The features that a run has covered: a run without coverage proves nothing.
struct OracleCoverage {
  /// The kind of index that found the rows.
  enum IndexKind: String, CaseIterable {
    case none, single, compound, folded, unique, relationship
    case lookup = "other entity's"
    case scan = "no, scanned"
  }

  private(set) var caseCount = 0
  private var queryCount = 0
  private var partialCount = 0
  private var accesses: [String: [QueryPlan.Access: Int]] = [:]
  private var kinds: [String: [IndexKind: Int]] = [:]
  private var orders: [String: Int] = [:]
  /// Conditions that ranges of folded indexes have expressed.
  private var foldedRanges: [String: Int] = [:]

  private static let paths: [QueryPlan.Access] = [
    .fullScan, .indexRange, .indexUnion, .indexIntersection, .orderedScan, .objectIDs,
  ]

  // MARK: Taking notes

  mutating func note(_ query: PlainQuery, in world: PlainWorld) {
    queryCount += 1
    if query.isPartial(in: world) { partialCount += 1 }
  }

  mutating func note(_ plan: PlannedQuery, _ operators: Set<String>) {
    caseCount += 1
    let (access, kinds) = Self.access(plan)
    for word in operators {
      accesses[word, default: [:]][access, default: 0] += 1
      for kind in kinds { self.kinds[word, default: [:]][kind, default: 0] += 1 }
    }
    if kinds.contains(.folded) {
      for range in plan.explanation.ranges where range.index.hasSuffix("]") {
        for word in ["==", "<", "BEGINSWITH"] where range.condition.contains("\(word)[") {
          foldedRanges[word, default: 0] += 1
        }
      }
    }
    if case .access(let isReversed) = plan.order {
      orders["\(access.rawValue)\(isReversed ? ", reversed" : "")", default: 0] += 1
    }
  }

  private static func access(_ plan: PlannedQuery) -> (QueryPlan.Access, Set<IndexKind>) {
    let lookup = Set(plan.lookups.map { $0.index == nil ? IndexKind.scan : .lookup })
    switch plan.access {
    case .nothing: return (.nothing, lookup)
    case .fullScan: return (.fullScan, lookup.union([.none]))
    case .objects: return (.objectIDs, lookup)
    case .index(let scan):
      return (scan.isWhole ? .orderedScan : .indexRange, lookup.union([kind(scan.index)]))
    case .union(let scans): return (.indexUnion, lookup.union(scans.map { kind($0.index) }))
    case .intersection(let scans):
      return (.indexIntersection, lookup.union(scans.map { kind($0.index) }))
    }
  }

  private static func kind(_ index: ResolvedIndex) -> IndexKind {
    if index.origin == .relationship { return .relationship }
    if index.isFolded { return .folded }
    if index.isUnique { return .unique }
    return index.columns.count > 1 ? .compound : .single
  }

  mutating func add(_ other: OracleCoverage) {
    caseCount += other.caseCount
    queryCount += other.queryCount
    partialCount += other.partialCount
    accesses.merge(other.accesses) { $0.merging($1, uniquingKeysWith: +) }
    kinds.merge(other.kinds) { $0.merging($1, uniquingKeysWith: +) }
    orders.merge(other.orders, uniquingKeysWith: +)
    foldedRanges.merge(other.foldedRanges, uniquingKeysWith: +)
  }

  // MARK: What is missing

  /// How many operators the language has, as far as the oracle tells them apart.
  private static let operatorCount = 62

  /// The features that should have been covered and weren't. A constant decides a query before any access path is chosen.
  var gaps: [String] {
    var gaps: [String] = []
    for (word, counts) in accesses where word != "constant" {
      gaps += Self.paths.filter { counts[$0] == nil }.map { "\(word) was never met by \($0.rawValue)" }
      gaps += IndexKind.allCases.filter { kinds[word]?[$0] == nil }.map {
        "\(word) was never met with \($0.rawValue) index"
      }
    }
    if accesses.count < Self.operatorCount { gaps.append("only \(accesses.count) operators were generated") }
    for name in ["full scan", "index range", "ordered scan"].flatMap({ [$0, $0 + ", reversed"] })
    where orders[name] == nil {
      gaps.append("never in the order of \(name)")
    }
    gaps += ["==", "<", "BEGINSWITH"].filter { foldedRanges[$0] == nil }.map { "no folded range by \($0)" }
    if partialCount * 10 < queryCount * 4 {
      gaps.append("\(partialCount) of \(queryCount) predicates match neither nothing nor everything")
    }
    return gaps.sorted()
  }

  // MARK: Printing

  func print() {
    Swift.print(Self.line("operator", Self.paths.map(\.rawValue) + IndexKind.allCases.map(\.rawValue)))
    for word in accesses.keys.sorted() where word != "constant" {
      let counts =
        Self.paths.map { accesses[word]?[$0] ?? 0 } + IndexKind.allCases.map { kinds[word]?[$0] ?? 0 }
      Swift.print(Self.line(word, counts.map { "\($0)" }))
    }
    Swift.print("in order:", Self.list(orders), "; ranges of folded indexes:", Self.list(foldedRanges))
    Swift.print(
      "\(caseCount) cases; neither nothing nor everything: \(partialCount) of \(queryCount) predicates"
    )
  }

  private static func line(_ word: String, _ cells: [String]) -> String {
    func padded(_ text: String, to width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    return padded(word, to: 24) + cells.map { padded($0, to: $0.count > 15 ? 23 : 15) }.joined()
  }

  private static func list(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}
