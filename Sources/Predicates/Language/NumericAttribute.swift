import Foundation

/// A number that an attribute can have, with the types of sums and averages of such numbers. An optional number
/// conforms, too.
public protocol NumericAttribute: AttributeType {
  /// The type of a sum: `Int` for signed integers and short unsigned ones, `UInt` for `UInt` and `UInt64`, `Double` for
  /// Float and Double, `Decimal` for Decimal.
  associatedtype _Sum: AttributeType
  /// The type of an average and a median: `Decimal` for Decimal, `Double` for all others.
  associatedtype _Average: AttributeType = Double
}

extension Int: NumericAttribute { public typealias _Sum = Int }
extension Int8: NumericAttribute { public typealias _Sum = Int }
extension Int16: NumericAttribute { public typealias _Sum = Int }
extension Int32: NumericAttribute { public typealias _Sum = Int }
extension Int64: NumericAttribute { public typealias _Sum = Int }
extension UInt8: NumericAttribute { public typealias _Sum = Int }
extension UInt16: NumericAttribute { public typealias _Sum = Int }
extension UInt32: NumericAttribute { public typealias _Sum = Int }
extension UInt: NumericAttribute { public typealias _Sum = UInt }
extension UInt64: NumericAttribute { public typealias _Sum = UInt }
extension Float: NumericAttribute { public typealias _Sum = Double }
extension Double: NumericAttribute { public typealias _Sum = Double }
extension Decimal: NumericAttribute {
  /// The type of a sum, which is exact while it is computed, and rounded once.
  public typealias _Sum = Decimal
  /// The type of an average, which is exact while it is computed, and rounded once.
  public typealias _Average = Decimal
}
extension Optional: NumericAttribute where Wrapped: NumericAttribute {
  /// The type of a sum of the wrapped numbers.
  public typealias _Sum = Wrapped._Sum
  /// The type of an average of the wrapped numbers.
  public typealias _Average = Wrapped._Average
}
