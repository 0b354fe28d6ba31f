import Glibc

/// Random numbers that a seed repeats: xoshiro256**, seeded through SplitMix64.
///
/// ``init(_:)`` takes the seed from the environment variable `CAMBIUM_SEED`, or a fresh one, and prints it: a
/// failing run is repeated by setting the variable to what was printed.
///
/// Source: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", 2018.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The seed that repeats this sequence.
  public let seed: UInt64
  private var state: (UInt64, UInt64, UInt64, UInt64)

  /// The sequence of `seed`; prints nothing.
  public init(seed: UInt64) {
    self.seed = seed
    var mixer = SplitMix(state: seed)
    state = (mixer.next(), mixer.next(), mixer.next(), mixer.next())
  }

  /// The sequence of `CAMBIUM_SEED`, or of a fresh seed, which is printed beside the name of the test.
  public init(_ name: String = #function) {
    self.init(seed: Self.seedOfThisRun())
    print("\(name): CAMBIUM_SEED=\(seed)")
  }

  public mutating func next() -> UInt64 {
    let result = rotated(state.1 &* 5, by: 7) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = rotated(state.3, by: 45)
    return result
  }

  /// The seed that the environment asks for, or a fresh one.
  public static func seedOfThisRun() -> UInt64 {
    if let text = getenv("CAMBIUM_SEED"), let seed = UInt64(String(cString: text)) { return seed }
    return UInt64.random(in: 0...UInt64.max)
  }
}

extension SeededGenerator {
  /// True `numerator` times in `denominator`.
  public mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
    Int.random(in: 0..<denominator, using: &self) < numerator
  }

  /// A number of `range`.
  public mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// One of `choices`, which must not be empty.
  public mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int.random(in: 0..<choices.count, using: &self)]
  }

  /// `count` random bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    // The initializer would write the count of the empty array that all threads share.
    if count == 0 { return [] }
    // Whole words are stored: a debug build takes much longer to append their bytes.
    return [UInt8](unsafeUninitializedCapacity: (count + 7) / 8 * 8) { bytes, initializedCount in
      let bytes = UnsafeMutableRawBufferPointer(bytes)
      var place = 0
      while place < count {
        // The buffer has room for the whole of the last word, and its memory is that of bytes, which need no alignment.
        bytes.storeBytes(of: next(), toByteOffset: place, as: UInt64.self)
        place += 8
      }
      initializedCount = count
    }
  }
}

/// Returns a number that depends on both, and on nothing else: for decisions that must not depend on an order of
/// visits.
public func mixed(_ seed: UInt64, _ number: UInt64) -> UInt64 {
  var mixer = SplitMix(state: seed ^ (number &* 0xD6E8_FEB8_6659_FD93))
  _ = mixer.next()
  return mixer.next()
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, 2014): turns any seed into well-mixed words.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}

private func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { (word << count) | (word >> (64 - count)) }
