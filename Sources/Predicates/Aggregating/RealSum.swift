/// A sum of Doubles that compensates the rounding of each step (Neumaier, Zeitschrift für angewandte Mathematik und
/// Mechanik 54, 1974).
///
/// An intermediate sum may exceed the greatest Double: only the result must not. Infinities among the values add up
/// as IEEE 754 says.
struct RealSum {
  private var total = 0.0
  /// The accumulated rounding error of `total`.
  private var compensation = 0.0
  /// The amount taken from `total` to keep it finite, in units.
  private var carries = 0

  /// The unit of `carries`: no two Doubles below it have a sum beyond the greatest Double.
  private static let unit = 0x1p1023
  /// A factor that brings the sum of any number of finite Doubles into their range.
  private static let scale = 0x1p-64

  @inline(__always)
  mutating func add(_ value: Double) {
    let sum = total + value
    if !sum.isFinite && total.isFinite && value.isFinite { return addBeyondRange(value) }
    compensation += abs(total) >= abs(value) ? (total - sum) + value : (value - sum) + total
    total = sum
  }

  /// Subtracts a unit from one of the two numbers that is at least a unit, which is exact, and adds them again.
  @inline(never)
  private mutating func addBeyondRange(_ value: Double) {
    let sign = value < 0 ? -1 : 1
    let unit = Double(sign) * Self.unit
    carries += sign
    if abs(total) >= Self.unit {
      total -= unit
      add(value)
    } else {
      add(value - unit)
    }
  }

  /// The sum; nil if the sum of finite values exceeds the greatest Double.
  var value: Double? {
    if !total.isFinite { return total }
    let sum = carries == 0 ? total + compensation : scaledSum / Self.scale
    return sum.isFinite ? sum : nil
  }

  /// Returns the sum divided by a count of values, which isn't 0.
  func average(of count: Int) -> Double {
    if let value { return value / Double(count) }
    return scaledSum / Double(count) / Self.scale
  }

  private var scaledSum: Double {
    (total * Self.scale + Double(carries) * (Self.unit * Self.scale)) + compensation * Self.scale
  }
}
