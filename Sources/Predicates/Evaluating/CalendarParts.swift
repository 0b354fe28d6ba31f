import Foundation

/// An instant in UTC and the proleptic Gregorian calendar.
struct CalendarParts {
  let year: Int
  let month: Int
  let day: Int
  let hour: Int
  let minute: Int
  /// The second, with its fraction.
  let second: Double
  /// The weekday, 1 for Sunday to 7 for Saturday.
  let weekday: Int

  /// Makes the parts of a date. Nil beyond some 3 million years from now, and for a date that isn't finite.
  init?(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.magnitude < 1e14 else { return nil }
    let days = (seconds / 86_400).rounded(.down)
    // For an instant shortly before 2001, a Double may round the time to the end of the day.
    let rest = min(seconds - days * 86_400, (86_400.0).nextDown)
    let minutes = (rest / 60).rounded(.down)
    (year, month, day) = CivilDay.date(daysSince2001: Int(days))
    hour = Int(minutes) / 60
    minute = Int(minutes) % 60
    second = rest - minutes * 60
    // 1 January 2001 was a Monday.
    weekday = ((Int(days) + 1) % 7 + 7) % 7 + 1
  }
}

/// Days of the proleptic Gregorian calendar, after Howard Hinnant's `days_from_civil` and `civil_from_days`.
///
/// Years are counted from 1 March, so that the leap day is their last.
enum CivilDay {
  /// The number of days from 1 March of the year 0 to 1 January 2001.
  private static let daysTo2001 = 730_791
  private static let daysOfEra = 146_097

  /// Returns the number of days from 1 January 2001; the year is not negative.
  static func daysSince2001(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysOfEra + dayOfEra - daysTo2001
  }

  static func date(daysSince2001 days: Int) -> (year: Int, month: Int, day: Int) {
    let days = days + daysTo2001
    let era = (days >= 0 ? days : days - (daysOfEra - 1)) / daysOfEra
    let dayOfEra = days - era * daysOfEra
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
