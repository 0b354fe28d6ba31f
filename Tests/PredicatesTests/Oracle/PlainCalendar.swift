import Foundation

/// An instant in UTC, found by walking the calendar from 1 January 2001, a Monday.
struct PlainCalendar {
  private(set) var year = 2001
  private(set) var month = 1
  private(set) var day = 1
  let hour: Int
  let minute: Int
  let second: Double
  /// 1 for Sunday.
  let weekday: Int

  private static let daysOfFourCenturies = 146_097

  /// Nil where the language has no calendar: for NaN, infinities, and three million years away.
  init?(secondsSince2001 seconds: Double) {
    guard abs(seconds) < 1e14 else { return nil }
    let days = floor(seconds / 86_400)
    // A moment before midnight is not midnight, though a Double may say so.
    let time = min(seconds - days * 86_400, (86_400.0).nextDown)
    second = fmod(time, 60)
    minute = Int(fmod(time, 3_600) / 60)
    hour = Int(time / 3_600)
    var left = Int(days)
    // Four centuries are a whole number of weeks.
    while left < 0 {
      left += Self.daysOfFourCenturies
      year -= 400
    }
    year += left / Self.daysOfFourCenturies * 400
    left %= Self.daysOfFourCenturies
    weekday = (left + 1) % 7 + 1
    while left >= (isLeapYear ? 366 : 365) {
      left -= isLeapYear ? 366 : 365
      year += 1
    }
    while left >= daysOfMonth {
      left -= daysOfMonth
      month += 1
    }
    day += left
  }

  private var isLeapYear: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private var daysOfMonth: Int {
    [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }
}
