/// One line that the user types.
enum EditorCommand: Equatable {
  /// The properties of a contact that can be set.
  enum Field: String, CaseIterable {
    case name, mail, phone, circle
  }

  case add(name: String)
  /// Sets a property of a contact, by its row; nil for the contact of the open sheet.
  case set(row: Int?, Field, value: String?)
  case delete(row: Int)
  case undo, redo, save, revert
  /// Edits a contact in a sheet that can be cancelled.
  case sheet(row: Int)
  case done, cancel
  /// Resolves a conflict.
  case mine, theirs
  /// Switches to the other window.
  case other
  case history, back, help, quit

  /// A line that is no command.
  struct Mistake: Error {
    let message: String
  }

  static let summary = """
    add NAME · set ROW FIELD [VALUE] · delete ROW · undo · redo · save · revert · sheet ROW
    In a sheet: set FIELD [VALUE] · done · cancel.   In a conflict: mine · theirs · back
    other (window) · history · back · help · quit.   Fields: name, mail, phone, circle
    """

  /// - Throws: ``Mistake`` for a line that is no command.
  init(_ line: String) throws(Mistake) {
    var words = line.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw Mistake(message: "Type a command, such as help.") }
    let verb = words.removeFirst()
    switch verb {
    case "add" where !words.isEmpty: self = .add(name: words.joined(separator: " "))
    case "set": self = try Self.setting(words)
    case "delete": self = .delete(row: try Self.row(words))
    case "sheet": self = .sheet(row: try Self.row(words))
    default:
      guard words.isEmpty, let command = Self.plain[verb] else {
        throw Mistake(message: "“\(line)” is no command; help lists them.")
      }
      self = command
    }
  }

  private static let plain: [String: EditorCommand] = [
    "undo": .undo, "redo": .redo, "save": .save, "revert": .revert, "done": .done, "cancel": .cancel,
    "mine": .mine, "theirs": .theirs, "other": .other, "history": .history, "back": .back, "help": .help,
    "quit": .quit,
  ]

  private static func row(_ words: [String]) throws(Mistake) -> Int {
    guard words.count == 1, let row = Int(words[0]) else {
      throw Mistake(message: "Name a contact by the number of its row.")
    }
    return row
  }

  private static func setting(_ words: [String]) throws(Mistake) -> EditorCommand {
    let row = words.first.flatMap { Int($0) }
    let rest = row == nil ? words[...] : words.dropFirst()
    guard let field = rest.first.flatMap(Field.init) else {
      throw Mistake(
        message: "There are the fields \(Field.allCases.map(\.rawValue).joined(separator: ", "))."
      )
    }
    let value = rest.dropFirst().joined(separator: " ")
    return .set(row: row, field, value: value.isEmpty ? nil : value)
  }
}
