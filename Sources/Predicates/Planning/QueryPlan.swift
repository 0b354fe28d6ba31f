/// The explanation of the way in which a query is answered: a value to print, to compare in a test, or to encode.
///
/// ```
/// Flight: index range, 842 rows
///   index month,day, month == 1 AND day == 1: 842 rows (exact)
///   filter: carrier == "UA"
///   order: by arrDelay descending, keeping 20
///   limit 20, offset 0
/// ```
public struct QueryPlan: Sendable, Hashable, Codable {
  /// The source of the rows.
  public enum Access: String, Sendable, Hashable, Codable {
    /// Every object of the entity.
    case fullScan = "full scan"
    /// One or more ranges of an index.
    case indexRange = "index range"
    /// Ranges of several indexes, or that may overlap; each object counts once.
    case indexUnion = "union of index ranges"
    /// Ranges of several indexes; the objects that are in all of them.
    case indexIntersection = "intersection of index ranges"
    /// A whole index, for its order.
    case orderedScan = "ordered scan"
    /// Objects by their IDs.
    case objectIDs = "object IDs"
    /// No object: the predicate can't hold for any.
    case nothing
  }

  /// A range of an index.
  public struct Range: Sendable, Hashable, Codable {
    /// The index's name: `month,day`.
    public var index: String
    /// The condition that the range's rows meet, as a format string.
    public var condition: String
    /// The number of rows of the range.
    public var rowCount: Int
  }

  /// The number of matching rows, estimated from a sample.
  ///
  /// The number of rows that meet two conditions can't be counted. If a choice depends on this number, some rows are
  /// tested, spread over the smallest range.
  public struct Estimate: Sendable, Hashable, Codable {
    /// The estimated number of matching rows.
    public var rowCount: Int
    /// The number of tested rows.
    public var sampleCount: Int
  }

  /// A condition on objects at the other end of a relationship, found there first.
  public struct Lookup: Sendable, Hashable, Codable {
    /// The entity at the other end.
    public var entity: String
    /// The index that found the objects; nil for a pass over all the objects.
    public var index: String?
    /// The condition that is met there, as a format string.
    public var condition: String
    /// The greatest number of objects that meet the condition.
    public var rowCount: Int
  }

  /// The way in which the results are ordered.
  public enum Order: Sendable, Hashable, Codable {
    /// The rows come in the requested order, or in the opposite order and are read backwards.
    case inAccessOrder(isReversed: Bool)
    /// The rows are sorted; only the first `keeping` are kept during sorting.
    case sorted(by: [String], keeping: Int?)
  }

  /// The plan that replaces this one if rows that come in order match too rarely.
  public struct Fallback: Sendable, Hashable, Codable {
    /// The source of the rows of that plan.
    public var access: Access
    /// The greatest number of rows that the other plan reads.
    public var rowCount: Int
    /// The number of rows that are read before the change.
    public var rowBudget: Int
  }

  /// The way in which a live list finds the positions of its objects.
  public enum Listing: Sendable, Hashable, Codable {
    /// By counting, in the tree that has the results in their order. The list holds no IDs.
    case byRank
    /// By the list, which holds this many IDs of 8 bytes each.
    case byNumbers(Int)
  }

  /// The entity's name.
  public var entity: String
  /// The source of the rows.
  public var access: Access
  /// The ranges of indexes that are read; empty for other kinds of access.
  public var ranges: [Range]
  /// The conditions on other objects that were looked up first.
  public var lookups: [Lookup]
  /// The greatest number of rows that the access path yields.
  public var rowCount: Int
  /// The estimated number of rows that match; nil if no choice depended on it.
  public var estimate: Estimate?
  /// True if the index's entries hold all the values that are asked for, so that no record of the entity is read.
  public var isCovering: Bool
  /// The condition that is tested on each row, as a format string.
  public var filter: String?
  /// The way in which the results are ordered.
  public var order: Order
  /// True if of equal rows only the first is returned; limit and offset count these first rows.
  public var isDistinct = false
  /// The greatest number of results returned; nil for all.
  public var limit: Int?
  /// The number of results left out at the start.
  public var offset: Int
  /// The plan that replaces this one if too few rows match; nil if this plan is kept in any case.
  public var fallback: Fallback?
  /// Information about how the plan was made.
  var making = Making()
  /// The values computed from the rows; nil if the rows themselves are the results.
  public var grouping: Grouping?
  /// The way in which a live list finds the positions of its objects; nil for a query of no live list.
  public package(set) var listing: Listing?
  /// The measured work of the query; nil if it was only explained.
  public var measurement: Measurement?
}

extension QueryPlan: CustomStringConvertible {
  /// The plan in lines; stable, so that tests can compare it.
  public var description: String {
    var lines = ["\(entity): \(access.rawValue), \(Self.rows(rowCount))"]
    for lookup in lookups {
      let way = lookup.index.map { "index \($0)" } ?? "a full scan"
      lines.append(
        "  first \(lookup.entity) by \(way), \(lookup.condition): \(Self.rows(lookup.rowCount)) (exact)"
      )
    }
    let shown = 12
    for range in ranges.prefix(shown) {
      lines.append("  index \(range.index), \(range.condition): \(Self.rows(range.rowCount)) (exact)")
    }
    if ranges.count > shown {
      let rest = ranges.dropFirst(shown).reduce(0) { $0 + $1.rowCount }
      lines.append("  and \(ranges.count - shown) ranges more: \(Self.rows(rest)) (exact)")
    }
    if let estimate {
      lines.append(
        "  matching: about \(Self.rows(estimate.rowCount)) (estimated from \(Self.rows(estimate.sampleCount)))"
      )
    }
    if isCovering { lines.append("  covering: no record of \(entity) is read") }
    if let filter { lines.append("  filter: \(filter)") }
    if access != .nothing, grouping == nil || limit != nil || offset > 0 {
      lines.append("  order: \(orderText)")
    }
    if isDistinct { lines.append("  distinct") }
    if limit != nil || offset > 0 {
      let parts = [limit.map { "limit \($0)" }, offset > 0 ? "offset \(offset)" : nil].compactMap { $0 }
      lines.append("  " + parts.joined(separator: ", "))
    }
    if let fallback {
      lines.append(
        "  after \(Self.rows(fallback.rowBudget)) instead: \(fallback.access.rawValue), \(Self.rows(fallback.rowCount))"
      )
    }
    lines += grouping?.lines ?? []
    switch listing {
    case .byRank?: lines.append("  list: positions by rank, no IDs are held")
    case .byNumbers(let count)?: lines.append("  list: positions by \(count) IDs of 8 bytes")
    case nil: break
    }
    if usesTemplate { lines.append("  template: of an earlier query") }
    if let measurement { lines.append(measurement.line) }
    return lines.joined(separator: "\n")
  }

  private var orderText: String {
    switch order {
    case .inAccessOrder(let isReversed):
      let name = access == .indexRange || access == .orderedScan ? "in index order" : "in order of object ID"
      return isReversed ? name + ", reversed" : name
    case .sorted(let keys, let kept):
      return "sorted by " + keys.joined(separator: ", ") + (kept.map { ", keeping \($0)" } ?? "")
    }
  }

  private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }
}

extension PlannedQuery {
  /// The plan as a value to show.
  package var explanation: QueryPlan {
    QueryPlan(
      entity: entity.name,
      access: explainedAccess,
      ranges: explainedRanges,
      lookups: lookups,
      rowCount: access.rowCount,
      estimate: estimate.map {
        QueryPlan.Estimate(rowCount: Int($0.rowCount.rounded()), sampleCount: $0.sampleCount)
      },
      isCovering: isCovering,
      filter: residual == .constant(true) ? nil : residual.description,
      order: explainedOrder,
      limit: limit,
      offset: offset,
      fallback: fallback.map {
        QueryPlan.Fallback(
          access: $0.plan.explainedAccess,
          rowCount: $0.plan.access.rowCount,
          rowBudget: $0.rowBudget
        )
      },
      making: QueryPlan.Making(usesTemplate: usesTemplate)
    )
  }

  private var explainedAccess: QueryPlan.Access {
    switch access {
    case .nothing: .nothing
    case .fullScan: .fullScan
    case .objects: .objectIDs
    case .index(let scan): scan.isWhole ? .orderedScan : .indexRange
    case .union: .indexUnion
    case .intersection: .indexIntersection
    }
  }

  private var explainedRanges: [QueryPlan.Range] {
    access.scans.flatMap { scan in
      scan.ranges.map { counted in
        QueryPlan.Range(
          index: scan.index.name,
          condition: counted.range.text(scan.index, of: entity),
          rowCount: counted.rowCount
        )
      }
    }
  }

  private var explainedOrder: QueryPlan.Order {
    switch order {
    case .access(let isReversed): return .inAccessOrder(isReversed: isReversed)
    case .sorted(let keys, let isIDAscending):
      let names = keys.map { "\($0.path.name) \($0.isAscending ? "ascending" : "descending")" }
      let fallback = isIDAscending ? "object ID" : "object ID descending"
      let kept = limit.map { offset.addingReportingOverflow($0) }.flatMap {
        $0.overflow ? nil : $0.partialValue
      }
      return .sorted(by: names.isEmpty ? [fallback] : names, keeping: kept)
    }
  }
}

extension IndexRange {
  /// Returns the condition that the range's rows meet.
  func text(_ index: ResolvedIndex, of entity: EntitySchema) -> String {
    func conditions(_ segment: ValueSet.Segment, _ place: Int) -> ValueSet.Segment.Conditions {
      let column = index.columns[place]
      let name = entity.stored[column.slot].name
      return segment.conditions(column.elementKind == nil ? name : "ANY \(name)", column.folding)
    }
    var terms = prefix.enumerated().map { place, value in
      conditions(ValueSet.Segment(lower: .before(value), upper: .after(value)), place).text
    }
    if let next, prefix.count < index.columns.count {
      let condition = conditions(next, prefix.count)
      terms.append(condition.isAlternative && !terms.isEmpty ? "(\(condition.text))" : condition.text)
    }
    return terms.isEmpty ? "every row" : terms.joined(separator: " AND ")
  }
}
