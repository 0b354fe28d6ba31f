import Foundation

/// Figures as the tables show them: three digits and a unit.
package enum Figures {
  /// `839 ns`, `1.80 µs`, `48.7 ms`.
  package static func duration(_ seconds: Double) -> String {
    for (limit, factor, unit) in [(1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")]
    where seconds < limit {
      return threeDigits(seconds * factor) + " " + unit
    }
    return threeDigits(seconds) + " s"
  }

  /// `270 B`, `15.0 KB`, `140 MB`: in powers of ten.
  package static func bytes(_ count: Double) -> String {
    for (limit, factor, unit) in [(1e3, 1.0, "B"), (1e6, 1e-3, "KB"), (1e9, 1e-6, "MB")] where count < limit {
      return unit == "B" ? "\(Int(count.rounded())) B" : threeDigits(count * factor) + " " + unit
    }
    return threeDigits(count * 1e-9) + " GB"
  }

  package static func threeDigits(_ value: Double) -> String {
    let decimals = value < 10 ? 2 : value < 100 ? 1 : 0
    return String(format: "%.\(decimals)f", value)
  }

  package static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
