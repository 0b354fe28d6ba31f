import Foundation
import Predicates

/// How a list is divided into sections: neighbours with one name are a section.
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

  /// Sections by equal values, named by them: numbers in decimal digits, `1` and `0` for true and false, dates as ISO 8601 has them, nothing for nil.
  public init<Value: AttributeType>(_ keyPath: KeyPath<Root, Value>) {
    names = Root.names(of: keyPath)
    name = { SectionName.text(of: $0) }
  }

  /// Sections by what a closure makes of the values: `SectionedBy(\.year) { "\($0 / 10)0s" }`.
  ///
  /// Values of one name must be neighbours in the list's order: a name that comes again after another one is an error, `invalidQuery`, when the list is made.
  public init<Value: AttributeType>(
    _ keyPath: KeyPath<Root, Value>,
    name: @escaping @Sendable (Value) -> String
  ) {
    names = Root.names(of: keyPath)
    self.name = { Value(_attributeValue: $0).map(name) }
  }

  /// Sections by the first letter, in upper case; `#` for what begins with none, and for an empty text.
  ///
  /// Strings are sorted by their bytes, upper case before lower case: for the order of a phone book sort by a derived attribute, `title[cd]`, and divide by that.
  public static func firstLetter(of keyPath: KeyPath<Root, String>) -> SectionedBy {
    SectionedBy(keyPath) { SectionName.firstLetter(of: $0) }
  }

  /// Sections by the first letter of a text that may be nil, which has the section of an empty one.
  public static func firstLetter(of keyPath: KeyPath<Root, String?>) -> SectionedBy {
    SectionedBy(keyPath) { SectionName.firstLetter(of: $0 ?? "") }
  }
}

/// The texts that sections are called by.
enum SectionName {
  static func text(of value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "1" : "0"
    case .int(let value): String(value)
    case .uint(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .date(let value): value.formatted(.iso8601)
    case .uuid(let value): value.uuidString
    case .string(let value): value
    case .data(let value): value.base64EncodedString()
    case .reference(let number): String(number.rawValue)
    }
  }

  static func firstLetter(of text: String) -> String {
    guard let first = text.first, first.isLetter else { return "#" }
    return first.uppercased()
  }

  /// The title in an index strip of a section that nobody else titles; nil for an empty name.
  static func indexTitle(of name: String) -> String? { name.first.map { $0.uppercased() } }

  /// The section for a title of an index strip: the first that has the title, else the last one whose title comes before it; nil without sections.
  static func section(for title: String, in titles: [String]) -> Int? {
    titles.firstIndex(of: title) ?? titles.lastIndex { $0 < title } ?? (titles.isEmpty ? nil : 0)
  }
}
