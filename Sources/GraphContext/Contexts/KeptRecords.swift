/// The rule by which a context releases the records that its source keeps for objects. After a release, an object looks
/// its record up again when a value is read.
struct KeptRecords {
  private static let smallestLimit = 32 << 20
  /// Kept bytes above which a lookup releases all records first.
  private var limit = Self.smallestLimit
  /// The objects whose records were read ahead of their use, held so that their records are found by them.
  var prefetched: [any ManagedObject] = []
  /// Bytes that the largest fetch has added to the kept records.
  private var largestFetch = 0

  /// Returns whether a lookup releases the kept records first.
  func areMany(_ byteCount: Int) -> Bool { byteCount > limit }

  /// Returns whether a fetch, which adds records, releases the kept ones first.
  func areManyForFetch(_ byteCount: Int) -> Bool { byteCount > max(Self.smallestLimit, 2 * largestFetch) }

  /// Raises the limits, so that the records of a fetch stay until the next fetch.
  ///
  /// - Parameters:
  ///   - before: bytes that were kept when the fetch began.
  ///   - after: bytes that are kept now.
  mutating func noteFetch(before: Int, after: Int) {
    largestFetch = max(largestFetch, after - before)
    limit = max(limit, 2 * after)
  }
}
