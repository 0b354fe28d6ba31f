/// Doubles that are added, with what each step has rounded away (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B).
struct PlainReals {
  private let values: [Double]

  init(_ values: [Plain]) { self.values = values.compactMap(\.nearestDouble) }

  /// Missing where finite numbers have a sum beyond the greatest Double.
  var sum: Plain { special ?? result(dividedBy: 1) }

  var average: Plain { special ?? result(dividedBy: Double(values.count)) }

  /// What infinities lead to.
  private var special: Plain? {
    let infinities = values.filter { !$0.isFinite }
    return infinities.isEmpty ? nil : .real(infinities.reduce(0, +))
  }

  private func result(dividedBy count: Double) -> Plain {
    let sum = Self.sum(values)
    if sum.isFinite { return .real(sum / count) }
    // On the way there was more than the greatest Double.
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
