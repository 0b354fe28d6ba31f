/// A measured value, in bytes or as a share, with its upper or lower bound.
struct Figure: CustomStringConvertible {
  enum Bound {
    case atMost(Double)
    case atLeast(Double)
  }

  var name: String
  var value: Double
  /// The bound; nil for a figure that is only reported.
  var bound: Bound?

  init(_ name: String, _ value: some BinaryInteger, atMost limit: some BinaryInteger) {
    self.init(name, share: Double(value), .atMost(Double(limit)))
  }

  init(_ name: String, _ value: some BinaryInteger) { self.init(name, share: Double(value), nil) }

  init(_ name: String, share: Double, _ bound: Bound?) {
    self.name = name
    self.value = share
    self.bound = bound
  }

  var isExceeded: Bool {
    switch bound {
    case .atMost(let limit): value > limit
    case .atLeast(let limit): value < limit
    case nil: false
    }
  }

  var description: String {
    let allowed =
      switch bound {
      case .atMost(let limit): ", at most \(Self.text(limit))"
      case .atLeast(let limit): ", at least \(Self.text(limit))"
      case nil: ""
      }
    return "\(isExceeded ? "EXCEEDED " : "")\(name): \(Self.text(value))\(allowed)"
  }

  /// Shares with three digits after the point, counts without.
  private static func text(_ value: Double) -> String {
    if value == value.rounded() { return "\(Int(value))" }
    return "\((value * 1_000).rounded() / 1_000)"
  }
}
