import Foundation
import Predicates

/// The rule that divides a list into sections: neighbours with one name are a section. A name that comes again after
/// another one is that of a second section.
///
/// The first key of the list's order must be that of the sections, so that objects of one section are neighbours:
///
/// ```swift
/// let songs = From<Song>().orderBy(\.album?.title, \.track)
/// let list = try FetchedResults(songs, sectionedBy: SectionedBy(\.album?.title), in: context)
/// ```
public struct SectionedBy<Root: PredicateRoot>: Sendable {
  let names: Result<[String], QueryError>
  /// The name of the section of an object that has the value; nil where the value isn't one of the key path's type.
  let name: @Sendable (AttributeValue) -> String?

  /// Makes sections of equal values, named by these values: numbers in decimal digits, `1` and `0` for true and false,
  /// dates as ISO 8601 has them, with a fraction of a second if they have one, nothing for nil. A date before the year
  /// 0 or after the year 9999 is named by its seconds since 2001.
  public init<Value: AttributeType>(_ keyPath: KeyPath<Root, Value>) {
    names = Root.names(of: keyPath)
    name = { SectionName.text(of: $0) }
  }

  /// Makes sections by the names that a closure makes of the values: `SectionedBy(\.year) { "\($0 / 10)0s" }`.
  ///
  /// Values of one name should be neighbours in the list's order. If a value of another name is between them, they are
  /// two sections of one name.
  public init<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>,
    name: @escaping @Sendable (Value) -> String
  ) {
    names = Root.names(of: keyPath)
    self.name = { Value(_attributeValue: $0).map(name) }
  }

  /// Makes sections by the first letter, in upper case; `#` for a text that begins with no letter, and for an empty
  /// text.
  ///
  /// Strings are sorted by their bytes: upper case before lower case. Texts that begin with no letter come before,
  /// between and behind these. So a letter may come again as a second section. For the order of a phone book, sort by a
  /// derived attribute, `title[cd]`, and divide by that.
  public static func firstLetter(of keyPath: KeyPath<Root, String>) -> SectionedBy {
    SectionedBy(keyPath) { SectionName.firstLetter(of: $0) }
  }

  /// Makes sections by the first letter of a text that may be nil; nil has the section of an empty text.
  public static func firstLetter(of keyPath: KeyPath<Root, String?>) -> SectionedBy {
    SectionedBy(keyPath) { SectionName.firstLetter(of: $0 ?? "") }
  }
}

/// The names of sections, made of values.
enum SectionName {
  /// Returns the value that names the section of all values equal to it: zero without a sign, and one NaN.
  static func canonical(_ value: AttributeValue) -> AttributeValue {
    guard case .double(let number) = value else { return value }
    return .double(number.isNaN ? .nan : number == 0 ? 0 : number)
  }

  static func text(of value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "1" : "0"
    case .int(let value): String(value)
    case .uint(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .date(let value): text(of: value)
    case .uuid(let value): value.uuidString
    case .string(let value): value
    case .data(let value): value.base64EncodedString()
    case .reference(let number): String(number.rawValue)
    }
  }

  /// Returns the name for a date. NaN, and a date in no year of four digits, can't be formatted as a date: their names
  /// are `nan` and the seconds since 2001.
  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isNaN { return "nan" }
    return ISO8601Text.text(date) ?? seconds.description
  }

  /// Returns one spelling of a letter that Unicode has several of.
  static func firstLetter(of text: String) -> String {
    guard let first = text.first, first.isLetter else { return "#" }
    return first.uppercased().precomposedStringWithCanonicalMapping
  }

  /// Returns the title in an index strip of a section for which the program gives none; nil for an empty name.
  static func indexTitle(of name: String) -> String? { name.first.map { $0.uppercased() } }

  /// Returns the section for a title of an index strip: the first that has the title, else the first of the greatest
  /// title below it, else that of the least title; nil without sections.
  static func section(for title: String, in titles: [String]) -> Int? {
    if let found = titles.firstIndex(of: title) { return found }
    let nearest = titles.filter { $0 < title }.max() ?? titles.min()
    return nearest.flatMap { titles.firstIndex(of: $0) }
  }
}
