/// How many rows of a range match, judged by a sample of them.
package struct RowEstimate: Sendable, Hashable {
  package var rowCount: Double
  package var sampleCount: Int

  /// As many are tested: a share of one half is met to within a sixth, at a few microseconds each.
  static let sampleCount = 32

  /// - Parameter hits: of `sampleCount` rows spread over a range of `total`.
  ///
  /// Half a hit is added on either side: none among a few is no proof that there are none.
  init(hits: Int, of sampleCount: Int, in total: Int) {
    self.sampleCount = sampleCount
    rowCount =
      sampleCount >= total
      ? Double(hits) : (Double(hits) + 0.5) / (Double(sampleCount) + 1) * Double(total)
  }
}

/// Reads rows here and there, so that the planner learns what counts don't tell.
package protocol RowSampling {
  /// How many of some rows pass each of the tests.
  ///
  /// - Parameters:
  ///   - ranks: which rows of the access path, by their place in its order; ascending.
  ///   - access: an index range or a full scan.
  func hits(
    at ranks: [Int],
    of access: AccessPath,
    in entity: EntitySchema,
    passing tests: [NormalPredicate]
  ) throws -> [Int]
}

extension RowSampling {
  /// For each of the tests, how many rows of the access path pass it. O(tests · log n).
  func estimates(
    of access: AccessPath,
    in entity: EntitySchema,
    passing tests: [NormalPredicate]
  ) throws -> [RowEstimate] {
    let total = access.rowCount
    let count = min(total, RowEstimate.sampleCount)
    return try hits(at: Self.ranks(count, of: total), of: access, in: entity, passing: tests).map {
      RowEstimate(hits: $0, of: count, in: total)
    }
  }

  /// One rank of each of as many equal parts; not the same place of each, because rows often repeat at even distances. The same for the
  /// same counts, so that a plan is.
  private static func ranks(_ count: Int, of total: Int) -> [Int] {
    (0..<count).map { part in
      let start = part * total / count
      let width = (part + 1) * total / count - start
      let scattered = UInt64(part + 1) &* 0x9E37_79B9_7F4A_7C15 >> 32
      return start + Int(scattered % UInt64(width))
    }
  }
}
