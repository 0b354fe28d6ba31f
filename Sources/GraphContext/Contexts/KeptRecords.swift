/// When a context gives the memory of records back that its objects were read from. The objects stay faults, and look for their records
/// again when they must.
struct KeptRecords {
  private static let smallestLimit = 32 << 20
  /// How many bytes the source may keep before the next lookup has them released.
  private var limit = Self.smallestLimit
  /// Of the fetches whose records are kept, how many bytes the largest one has read.
  private var largestFetch = 0

  /// Whether a lookup should have them released first.
  func areMany(_ byteCount: Int) -> Bool { byteCount > limit }

  /// Whether a fetch should, which will add to them.
  func areManyForFetch(_ byteCount: Int) -> Bool { byteCount > max(Self.smallestLimit, 2 * largestFetch) }

  /// Lets the objects of a fetch have their records until the next one, however many they are.
  ///
  /// - Parameters:
  ///   - before: bytes that were kept when the fetch began.
  ///   - after: bytes that are kept now.
  mutating func noteFetch(before: Int, after: Int) {
    largestFetch = max(largestFetch, after - before)
    limit = max(limit, 2 * after)
  }
}
