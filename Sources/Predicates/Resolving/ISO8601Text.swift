import Foundation

/// The text of instants in ISO 8601: `2013-01-01T10:00:00Z`, with a fraction of a second, an offset such as `+01:00`
/// for `Z`, a blank for `T`, or the date alone for midnight UTC.
///
/// A time without `Z` or an offset is refused: it would mean another instant on another machine. The calendar is
/// the proleptic Gregorian one.
package enum ISO8601Text {
  /// Returns the instant of a text; nil for anything else, such as the 30th of February. O(length).
  package static func date(_ text: String) -> Date? {
    var scanner = Scanner(text: text.utf8[...])
    guard let year = scanner.digits(4), scanner.skip("-"),
      let month = scanner.digits(2), scanner.skip("-"),
      let day = scanner.digits(2), let days = daysSince2001(year, month, day)
    else { return nil }
    if scanner.isAtEnd { return Date(timeIntervalSinceReferenceDate: Double(days) * 86_400) }

    guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
      let hour = scanner.digits(2), hour < 24, scanner.skip(":"),
      let minute = scanner.digits(2), minute < 60
    else { return nil }
    var second = 0
    var fraction = 0.0
    if scanner.skip(":") {
      guard let value = scanner.digits(2), value < 60 else { return nil }
      second = value
      if scanner.skip(".") {
        guard let value = scanner.fraction() else { return nil }
        fraction = value
      }
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let whole = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    return Date(timeIntervalSinceReferenceDate: Double(whole) + fraction)
  }

  /// Returns the days from 1 January 2001; nil for a day that isn't one.
  private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    return CivilDay.daysSince2001(year: year, month: month, day: day)
  }

  /// Returns the instant as text, with a fraction of a second if the instant has one; nil beyond four digits of years.
  package static func text(_ date: Date) -> String? {
    guard let parts = CalendarParts(date) else { return nil }
    return text(parts, decimals(of: parts.second - parts.second.rounded(.down)))
  }

  /// Returns the instant as text, rounded to milliseconds, which have three digits and are left out if they are 0; nil
  /// beyond four digits of years.
  package static func millisecondText(_ date: Date) -> String? {
    let milliseconds = (date.timeIntervalSinceReferenceDate * 1_000).rounded()
    let seconds = (milliseconds / 1_000).rounded(.down)
    guard let parts = CalendarParts(Date(timeIntervalSinceReferenceDate: seconds)) else { return nil }
    let rest = Int(milliseconds - seconds * 1_000)
    return text(parts, rest == 0 ? "" : "." + padded(rest, 3))
  }

  /// Returns the text of an instant's parts; nil beyond four digits of years.
  ///
  /// - Parameter decimals: the point and the digits of the fraction of a second; empty for none.
  private static func text(_ parts: CalendarParts, _ decimals: String) -> String? {
    guard (0...9_999).contains(parts.year) else { return nil }
    let day = "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
    let time = "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(Int(parts.second), 2))"
    return "\(day)T\(time)\(decimals)Z"
  }

  private static func padded(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  /// Returns the point and the digits of a fraction, as many as identify it; empty for 0.
  private static func decimals(of fraction: Double) -> String {
    guard fraction != 0, let digits = DecimalDigits(fraction) else { return "" }
    return "." + String(repeating: "0", count: max(0, -digits.exponent)) + digits.digits
  }

  private struct Scanner {
    var text: Substring.UTF8View

    var isAtEnd: Bool { text.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard text.first == UInt8(ascii: character) else { return false }
      text.removeFirst()
      return true
    }

    private mutating func digit() -> Int? {
      guard let byte = text.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      text.removeFirst()
      return Int(byte - UInt8(ascii: "0"))
    }

    mutating func digits(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// Reads the digits after the point, as a part of one.
    mutating func fraction() -> Double? {
      let start = text
      while digit() != nil {}
      let count = start.count - text.count
      guard count > 0, let digits = String(start.prefix(count)) else { return nil }
      return Double("0." + digits)
    }

    /// Reads `Z`, or hours and minutes east of UTC; in seconds.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let sign = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = digits(2), hours < 24 else { return nil }
      _ = skip(":")
      guard let minutes = digits(2), minutes < 60 else { return nil }
      return sign * (hours * 60 + minutes) * 60
    }
  }
}
