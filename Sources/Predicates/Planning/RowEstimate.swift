/// The number of rows of a range that match, estimated by a sample.
package struct RowEstimate: Sendable, Hashable {
  var rowCount: Double
  var sampleCount: Int

  /// The number of tested rows: a share of one half is estimated to within a sixth, at a few microseconds for each row.
  static let sampleCount = 32

  /// Makes an estimate from a sample.
  ///
  /// - Parameter hits: the number of matches of `sampleCount` rows spread over a range of `total`.
  ///
  /// Half a hit is added on either side: no match among a few rows doesn't prove that no row matches.
  init(hits: Int, of sampleCount: Int, in total: Int) {
    self.sampleCount = sampleCount
    rowCount =
      sampleCount >= total
      ? Double(hits) : (Double(hits) + 0.5) / (Double(sampleCount) + 1) * Double(total)
  }
}

/// A reader of sample rows, from which the planner estimates numbers that can't be counted.
package protocol RowSampling {
  /// Returns, for each of the tests, the number of the given rows that pass it.
  ///
  /// - Parameters:
  ///   - ranks: the rows' positions in the order of the access path; ascending.
  ///   - access: an index range or a full scan.
  func hits(
    at ranks: [Int],
    of access: AccessPath,
    in entity: EntitySchema,
    passing tests: [NormalPredicate]
  ) throws -> [Int]
}

extension RowSampling {
  /// Returns, for each of the tests, an estimate of the number of rows of the access path that pass it.
  /// O(tests · log n).
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

  /// Returns one rank in each of `count` equal parts. The position differs among the parts, because rows often
  /// repeat at even distances. Equal counts give equal ranks, so that plans are reproducible.
  private static func ranks(_ count: Int, of total: Int) -> [Int] {
    (0..<count).map { part in
      let start = part * total / count
      let width = (part + 1) * total / count - start
      let scattered = UInt64(part + 1) &* 0x9E37_79B9_7F4A_7C15 >> 32
      return start + Int(scattered % UInt64(width))
    }
  }
}
