/// Sums of Doubles that include the rounding error of each step (Knuth, The Art of Computer Programming 2, 4.2.2,
/// theorem B).
struct PlainReals {
  private let values: [Double]

  init(_ values: [Plain]) { self.values = values.compactMap(\.nearestDouble) }

  /// Missing where finite numbers have a sum beyond the greatest Double.
  var sum: Plain { special ?? result(dividedBy: 1) }

  var average: Plain { special ?? result(dividedBy: Double(values.count)) }

  /// The result if there are infinities; nil if there are none.
  private var special: Plain? {
    let infinities = values.filter { !$0.isFinite }
    return infinities.isEmpty ? nil : .real(infinities.reduce(0, +))
  }

  private func result(dividedBy count: Double) -> Plain {
    let sum = Self.sum(values)
    if sum.isFinite { return .real(sum / count) }
    // An intermediate sum was beyond the greatest Double.
    let small = 0x1p-64
    let result = Self.sum(values.map { $0 * small }) / count / small
    return result.isFinite ? .real(result) : .missing
  }

  private static func sum(_ values: [Double]) -> Double {
    var (sum, lost) = (0.0, 0.0)
    for value in values {
      let next = sum + value
      let part = next - sum
      lost += (sum - (next - part)) + (value - part)
      sum = next
    }
    return sum + lost
  }
}
