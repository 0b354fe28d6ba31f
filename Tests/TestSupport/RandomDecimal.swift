import Foundation

extension SeededGenerator {
  /// A Decimal: often an edge, often one of a few that are near each other, else any digits with any exponent.
  public mutating func decimal() -> Decimal {
    switch number(in: 0...3) {
    case 0:
      let edges: [Decimal] = [
        0, 1, -1, .nan, .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
        -.leastNonzeroMagnitude, Decimal(UInt64.max), Decimal(Int64.min),
      ]
      return pick(edges)
    case 1: return Decimal(number(in: -30...30)) / pick([1, 10, 4, 100])
    default:
      let digits = (0..<number(in: 1...38)).map { _ in "\(number(in: 0...9))" }.joined()
      let text =
        "\(pick(["", "-"]))\(digits)e\(chance(1, in: 2) ? number(in: -40...3) : number(in: -120...120))"
      return Decimal(string: text) ?? 0
    }
  }
}
