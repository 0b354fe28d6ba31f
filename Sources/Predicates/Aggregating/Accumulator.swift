/// What has come together of one aggregate of one group, but for medians and for the least and greatest of strings.
struct Accumulator {
  /// How many values took part.
  var count = 0
  /// A sum of integers, which no number of rows overflows; or the word of the least or greatest value.
  var whole: Int128 = 0
  private var real = 0.0
  /// What rounding has taken from `real` so far. Neumaier, Zeitschrift für angewandte Mathematik und Mechanik 54 (1974).
  private var compensation = 0.0

  @inline(__always)
  mutating func add(_ value: Int128) {
    count += 1
    whole += value
  }

  @inline(__always)
  mutating func add(_ value: Double) {
    count += 1
    let total = real + value
    compensation += abs(real) >= abs(value) ? (real - total) + value : (value - total) + real
    real = total
  }

  @inline(__always)
  mutating func takeLeast(_ word: Int64) {
    if count == 0 || Int128(word) < whole { whole = Int128(word) }
    count += 1
  }

  @inline(__always)
  mutating func takeGreatest(_ word: Int64) {
    if count == 0 || Int128(word) > whole { whole = Int128(word) }
    count += 1
  }

  /// The sum of Doubles.
  var realSum: Double { real.isFinite ? real + compensation : real }
}
