import Predicates

/// In tests, a number of an object is written as its raw value.
extension ObjectNumber: ExpressibleByIntegerLiteral {
  public init(integerLiteral rawValue: UInt64) { self.init(rawValue: rawValue) }
}
