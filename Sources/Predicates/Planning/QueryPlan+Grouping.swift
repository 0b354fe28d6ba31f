extension QueryPlan {
  /// The values computed from the rows, all together or in groups.
  public struct Grouping: Sendable, Hashable, Codable {
    /// A computed value.
    public struct Aggregate: Sendable, Hashable, Codable {
      /// The name of the value: `avg(arrDelay)`.
      public var name: String
      /// The source that gives the value without the rows, `index month,day`; nil if the rows are read.
      public var source: String?

      package init(name: String, source: String?) {
        self.name = name
        self.source = source
      }
    }

    /// The keys of the groups; empty if all rows are one group.
    public var keys: [String]
    /// The computed values of each group, in the order of the columns.
    public var aggregates: [Aggregate]
    /// The condition that is tested on each group.
    public var condition: String?
    /// The sort keys of the groups, before the groups' own keys.
    public var order: [String]
    /// The greatest number of groups returned; nil for all.
    public var limit: Int?
    /// The number of groups left out at the start.
    public var offset: Int

    package init(
      keys: [String],
      aggregates: [Aggregate],
      condition: String?,
      order: [String],
      limit: Int?,
      offset: Int
    ) {
      self.keys = keys
      self.aggregates = aggregates
      self.condition = condition
      self.order = order
      self.limit = limit
      self.offset = offset
    }
  }
}

extension QueryPlan.Grouping {
  /// The lines that the grouping adds to a plan's text.
  var lines: [String] {
    var lines: [String] = []
    let read = aggregates.filter { $0.source == nil }.map(\.name).joined(separator: ", ")
    if keys.isEmpty {
      for aggregate in aggregates {
        if let source = aggregate.source { lines.append("  \(aggregate.name): told by \(source)") }
      }
      if !read.isEmpty { lines.append("  \(read): of the rows") }
    } else {
      let by = "  group by \(keys.joined(separator: ", "))"
      let source = aggregates.compactMap(\.source).first
      let names = aggregates.map(\.name).joined(separator: ", ")
      lines.append(by + (names.isEmpty ? "" : ": \(names)") + (source.map { ", told by \($0)" } ?? ""))
    }
    if let condition { lines.append("  having: \(condition)") }
    if !order.isEmpty { lines.append("  groups sorted by \(order.joined(separator: ", "))") }
    let parts = [limit.map { "limit \($0)" }, offset > 0 ? "offset \(offset)" : nil].compactMap { $0 }
    if !parts.isEmpty { lines.append("  groups: \(parts.joined(separator: ", "))") }
    return lines
  }
}
