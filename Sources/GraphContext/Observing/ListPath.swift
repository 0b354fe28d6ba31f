/// A position in a list with sections: `[section: 1, item: 2]`. Both count from 0.
public struct ListPath: Sendable, Hashable, Comparable, Codable {
  /// The section's position in the list.
  public var section: Int
  /// The object's position in its section.
  public var item: Int

  /// Makes a path. A list without sections has one section, 0.
  public init(section: Int = 0, item: Int) {
    self.section = section
    self.item = item
  }

  /// Returns whether a path comes before another one in the list.
  public static func < (left: ListPath, right: ListPath) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }
}

extension ListPath: CustomStringConvertible {
  /// The path as it is written in a subscript: `[section: 1, item: 2]`.
  public var description: String { "[section: \(section), item: \(item)]" }
}
