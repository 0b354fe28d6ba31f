import Glibc

/// The length of the random tests.
public enum TestEffort {
  /// How many times the usual length: `CAMBIUM_TEST_EFFORT`, or one.
  public static let factor = getenv("CAMBIUM_TEST_EFFORT").flatMap { Int(String(cString: $0)) } ?? 1

  /// A count of repetitions: `usual`, as often as the environment asks for.
  public static func times(_ usual: Int) -> Int { usual * max(1, factor) }
}
