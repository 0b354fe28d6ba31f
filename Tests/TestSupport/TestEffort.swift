import Glibc

/// The length of the random tests.
public enum TestEffort {
  /// `CAMBIUM_TEST_EFFORT`, or one.
  private static let factor = max(1, getenv("CAMBIUM_TEST_EFFORT").flatMap { Int(String(cString: $0)) } ?? 1)

  /// The effort of `make random`.
  private static let longFactor = 5

  /// A count of repetitions: `usual` at effort 1, `long` at that of `make random`. It grows by the same amount with each
  /// effort. Without `long`, twice the effort is twice the count.
  public static func times(_ usual: Int, long: Int? = nil) -> Int {
    let long = long ?? usual * longFactor
    return usual + (long - usual) * (factor - 1) / (longFactor - 1)
  }
}
