/// An integer of any size, from 0 on.
struct WideInteger {
  /// The words, the lowest first. The last one is never zero.
  private var words: [UInt64]

  init(_ value: UInt128) {
    words = [UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64)]
    trim()
  }

  var isZero: Bool { words.isEmpty }

  private mutating func trim() {
    while words.last == 0 { words.removeLast() }
  }

  /// Multiplies by 10^tens × 2^twos.
  mutating func scale(tens: Int, twos: Int = 0) {
    if isZero { return }
    for _ in 0..<tens { multiply(by: 10) }
    multiply(by: 1 << UInt64(twos % 64))
    words.insert(contentsOf: repeatElement(0, count: twos / 64), at: 0)
  }

  private mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for place in words.indices {
      let product = words[place].multipliedFullWidth(by: factor)
      let (low, overflow) = product.low.addingReportingOverflow(carry)
      words[place] = low
      carry = product.high + (overflow ? 1 : 0)
    }
    if carry > 0 { words.append(carry) }
  }

  mutating func add(_ other: WideInteger) {
    var carry: UInt64 = 0
    for place in 0..<max(words.count, other.words.count) {
      if place == words.count { words.append(0) }
      let (sum, overflow) = words[place].addingReportingOverflow(carry)
      let (total, again) = sum.addingReportingOverflow(
        place < other.words.count ? other.words[place] : 0
      )
      words[place] = total
      carry = overflow || again ? 1 : 0
    }
    if carry > 0 { words.append(carry) }
  }

  /// Subtracts a number that is no greater.
  mutating func subtract(_ other: WideInteger) {
    var borrow: UInt64 = 0
    for place in words.indices {
      let (rest, overflow) = words[place].subtractingReportingOverflow(borrow)
      let (total, again) = rest.subtractingReportingOverflow(
        place < other.words.count ? other.words[place] : 0
      )
      words[place] = total
      borrow = overflow || again ? 1 : 0
    }
    trim()
  }

  /// Divides, and returns the remainder.
  mutating func divide(by divisor: UInt64) -> UInt64 {
    var remainder: UInt64 = 0
    for place in words.indices.reversed() {
      (words[place], remainder) = divisor.dividingFullWidth((remainder, words[place]))
    }
    trim()
    return remainder
  }

  /// The decimal digits; `0` for 0.
  var digits: String {
    var (rest, groups) = (self, [String]())
    while !rest.isZero { groups.append(String(rest.divide(by: Self.groupBase))) }
    guard let first = groups.popLast() else { return "0" }
    return groups.reversed().reduce(first) { text, group in
      text + String(repeating: "0", count: Self.groupDigits - group.utf8.count) + group
    }
  }

  private static let groupDigits = 19
  private static let groupBase: UInt64 = 10_000_000_000_000_000_000

  static func order(_ a: WideInteger, _ b: WideInteger) -> Int {
    if a.words.count != b.words.count { return ValueComparison.sign(a.words.count, b.words.count) }
    let difference = zip(a.words, b.words).reversed().first { $0 != $1 }
    return difference.map { ValueComparison.sign($0, $1) } ?? 0
  }
}
