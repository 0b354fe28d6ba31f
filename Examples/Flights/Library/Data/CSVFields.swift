import Foundation

/// The fields of one line, taken one after the other in the order that the record asked for.
///
/// `NA` without quotes is a missing value, as R writes it.
struct CSVFields {
  /// The error of a field.
  struct Mistake: Error {
    /// Nil where the whole line is meant.
    var column: String?
    var message: String
  }

  /// The bytes of all fields of the line, without quotes and commas.
  private var bytes: [UInt8] = []
  /// The end of each field in `bytes`.
  private var ends: [Int] = []
  private var quoted: Set<Int> = []
  /// For each column of the record, the ordinal of its field in the line.
  private var positions: [Int] = []
  private var names: [String] = []
  private var fieldCount = 0
  private var cursor = 0

  // MARK: Filling, by the table

  var isAtFieldStart: Bool { bytes.count == (ends.last ?? 0) && !quoted.contains(ends.count) }
  var isUntouched: Bool { bytes.isEmpty && ends.isEmpty && quoted.isEmpty }
  var isBlank: Bool { bytes.isEmpty && ends.count <= 1 && quoted.isEmpty }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    if !quoted.isEmpty { quoted.removeAll() }
    cursor = 0
  }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }
  mutating func append(_ run: Slice<UnsafeBufferPointer<UInt8>>) { bytes.append(contentsOf: run) }
  mutating func markQuoted() { quoted.insert(ends.count) }
  mutating func endField() { ends.append(bytes.count) }

  /// Takes the current line as the names of the columns, and notes the position of each of `columns`.
  mutating func arrange(_ columns: [String], path: String) throws {
    let header = ends.indices.map { String(decoding: bytes[range($0)], as: UTF8.self) }
    fieldCount = header.count
    names = columns
    positions = try columns.map { name in
      guard let position = header.firstIndex(of: name) else {
        throw DataError(path: path, line: 1, column: name, message: "there is no such column")
      }
      return position
    }
  }

  func checkCount() throws {
    guard ends.count == fieldCount else {
      throw Mistake(column: nil, message: "\(ends.count) fields where \(fieldCount) are named")
    }
  }

  private func range(_ field: Int) -> Range<Int> { (field == 0 ? 0 : ends[field - 1])..<ends[field] }

  // MARK: Taking, by the record

  mutating func string() throws -> String { try present(optionalString()) }
  mutating func int() throws -> Int { try present(optionalInt()) }
  mutating func double() throws -> Double { try present(optionalDouble()) }
  mutating func date() throws -> Date { try present(optionalDate()) }

  mutating func optionalString() throws -> String? {
    take().map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  mutating func optionalInt() throws -> Int? {
    guard let field = take() else { return nil }
    var value = 0
    let isNegative = bytes[field].first == UInt8(ascii: "-")
    let digits = isNegative ? field.dropFirst() : field
    guard (1...18).contains(digits.count) else { throw mistake("is not a whole number", field) }
    for index in digits {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { throw mistake("is not a whole number", field) }
      value = value * 10 + Int(digit)
    }
    return isNegative ? -value : value
  }

  mutating func optionalDouble() throws -> Double? {
    guard let field = take() else { return nil }
    guard let value = Double(String(decoding: bytes[field], as: UTF8.self)) else {
      throw mistake("is not a number", field)
    }
    return value
  }

  mutating func optionalDate() throws -> Date? {
    guard let field = take() else { return nil }
    guard let date = Date(utc: bytes[field]) else {
      throw mistake("is not a UTC time such as 2013-01-01T10:00:00Z", field)
    }
    return date
  }

  /// Returns the next field in the record's order; nil for `NA` and for an empty field.
  private mutating func take() -> Range<Int>? {
    let position = positions[cursor]
    cursor += 1
    let field = range(position)
    if !quoted.isEmpty, quoted.contains(position) { return field }
    let isMissing = field.isEmpty || bytes[field].elementsEqual("NA".utf8)
    return isMissing ? nil : field
  }

  private func present<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Mistake(column: names[cursor - 1], message: "a value is missing") }
    return value
  }

  private func mistake(_ message: String, _ field: Range<Int>) -> Mistake {
    let text = String(decoding: bytes[field], as: UTF8.self)
    return Mistake(column: names[cursor - 1], message: "“\(text)” \(message)")
  }
}

extension Date {
  /// Reads `2013-01-01T10:00:00Z`, and nothing else. Foundation's strategies accept everything that a calendar allows,
  /// at a cost that shows in an import of a third of a million rows.
  init?(utc text: ArraySlice<UInt8>) {
    let shape = "0000-00-00T00:00:00Z".utf8
    guard text.count == shape.count else { return nil }
    var numbers = [0, 0, 0, 0, 0, 0]
    var part = 0
    for (byte, expected) in zip(text, shape) {
      if expected == UInt8(ascii: "0") {
        let digit = byte &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        numbers[part] = numbers[part] * 10 + Int(digit)
      } else {
        guard byte == expected else { return nil }
        part += 1
      }
    }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    guard (1...12).contains(month), (1...Self.dayCount(of: month, year)).contains(day) else { return nil }
    guard numbers[3] < 24, numbers[4] < 60, numbers[5] < 60 else { return nil }
    let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
    self.init(timeIntervalSince1970: Double(Self.daysSince1970(year, month, day) * 86_400 + seconds))
  }

  private static func dayCount(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days of the proleptic Gregorian calendar (Howard Hinnant, “chrono-compatible low-level date algorithms”): years are
  /// counted from March, so that the leap day comes last.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
