import Cambium
import Foundation

/// The appearance of the parts of the screen.
@MainActor enum EditorScreen {
  private static let width = 38

  /// A window: its title and a line for each contact, with + for a new one and ~ for a changed one.
  static func list(of window: ContactWindow, isActive: Bool) throws -> [String] {
    let context = window.context
    let count = context.insertedObjects.count + context.updatedObjects.count + context.deletedObjects.count
    let title = "\(isActive ? "▶" : " ") \(window.name)\(count == 0 ? "" : " (\(count) unsaved)")"
    let rows = try window.contacts.enumerated().map { index, contact in
      let mark = contact.isInserted ? "+" : contact.hasPersistentChanges ? "~" : " "
      let details = [contact.mail, contact.phone, contact.circle.map { "(\($0.name))" }].compactMap(\.self)
      return "\(mark)\(index + 1) \(([contact.name] + details).joined(separator: " "))"
    }
    return [title, String(repeating: "─", count: width)] + rows
  }

  /// Puts two windows next to each other.
  static func sideBySide(_ lists: [[String]]) -> [String] {
    let height = lists.map(\.count).max() ?? 0
    return (0..<height).map { row in
      let cells = lists.map { list in fitted(row < list.count ? list[row] : "") }
      return trimmed(cells.joined(separator: " │ "))
    }
  }

  static func sheet(of contact: Contact) -> [String] {
    let values = [
      ("name", contact.name), ("mail", contact.mail ?? ""), ("phone", contact.phone ?? ""),
      ("circle", contact.circle?.name ?? ""),
    ]
    return ["", "┌ Sheet: done or cancel"] + values.map { trimmed("│ \($0.0): \($0.1)") }
  }

  static func conflicts(_ conflicts: [ContactWindow.Conflict]) -> [String] {
    if conflicts.isEmpty { return [] }
    return ["", "! Changed in both windows"]
      + conflicts.map {
        "! \($0.contact)\($0.property.map { " \($0)" } ?? ""): mine \($0.mine), theirs \($0.theirs)"
      }
  }

  static func history(_ transactions: [HistoryTransaction]) -> [String] {
    ["", "History"]
      + transactions.flatMap { transaction in
        transaction.changes.map { change in
          let names = change.properties.isEmpty ? "" : " \(change.properties.joined(separator: ", "))"
          let mail = change.tombstone["mail"]?.stringValue.map { " <\($0)>" } ?? ""
          let object = "\(change.objectID.entityName) \(change.objectID.number)"
          return "  \(transaction.author ?? "?") \(change.kind.rawValue) \(object)\(names)\(mail)"
        }
      }
  }

  private static func fitted(_ text: String) -> String {
    let cut = text.count > width ? text.prefix(width - 1) + "…" : text[...]
    return cut + String(repeating: " ", count: width - cut.count)
  }

  private static func trimmed(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
  }
}

extension AttributeValue {
  /// The text of a string.
  fileprivate var stringValue: String? { if case .string(let text) = self { text } else { nil } }
}
