import Cambium
import Foundation

/// The editor without its terminal: lines go in, screens come out.
@MainActor public final class ContactEditor {
  private let windows: [ContactWindow]
  /// One for each window: a container has one view context.
  private let containers: [PersistentContainer]
  private var active = 0
  private var history: [HistoryTransaction]?
  private var message = "help lists the commands."
  /// False after `quit`.
  public private(set) var isRunning = true

  /// Opens the store in a file, or makes it. The store keeps a history.
  public init(_ url: URL) async throws {
    var windows: [ContactWindow] = []
    var containers: [PersistentContainer] = []
    for name in ["left", "right"] {
      let container = try await PersistentContainer(name, models: Contact.self, Circle.self, at: url)
      containers.append(container)
      windows.append(ContactWindow(name, container))
    }
    try await containers[0].keepHistory()
    (self.windows, self.containers) = (windows, containers)
  }

  /// Closes the store. Unsaved changes are lost.
  public func close() throws { for container in containers { try container.close() } }

  private var window: ContactWindow { windows[active] }

  /// Carries one line out. Mistakes and refusals become the message below the screen.
  public func perform(_ line: String) async {
    do {
      message = ""
      try await perform(EditorCommand(line))
      for window in windows { try window.catchUp() }
    } catch let mistake as EditorCommand.Mistake {
      message = mistake.message
    } catch let error as ContextError {
      message = error.failures.map { $0.message }.joined(separator: "\n")
    } catch {
      message = "\(error)"
    }
  }

  private func perform(_ command: EditorCommand) async throws {
    if command != .history { history = nil }
    switch command {
    case .add(let name): window.add(name)
    case .set(let row, let field, let value): try window.set(field, of: row, to: value)
    case .delete(let row): try window.delete(row)
    case .undo: if !window.context.undo() { message = "There is nothing to undo." }
    case .redo: if !window.context.redo() { message = "There is nothing to redo." }
    case .save: try await save(.error)
    case .mine: try await save(.mergeByPropertyObjectTrump)
    case .theirs: try await save(.mergeByPropertyStoreTrump)
    case .revert: window.context.rollback()
    case .sheet(let row): try window.openSheet(row)
    case .done: try window.closeSheet(keepingChanges: true)
    case .cancel: try window.closeSheet(keepingChanges: false)
    case .other: active = 1 - active
    case .history: history = try await containers[0].history().suffix(8)
    case .back: window.dismissConflicts()
    case .help: message = EditorCommand.summary
    case .quit: isRunning = false
    }
  }

  private func save(_ policy: MergePolicy) async throws {
    try await window.save(policy)
    message = window.conflicts.isEmpty ? "Saved." : "Not saved: mine or theirs decides, back leaves it open."
  }

  /// Returns the text that the terminal shows now.
  public func screen() throws -> String {
    var lines = EditorScreen.sideBySide(
      try windows.enumerated().map { index, window in
        try EditorScreen.list(of: window, isActive: index == active)
      }
    )
    if let contact = window.sheet?.contact { lines += EditorScreen.sheet(of: contact) }
    lines += EditorScreen.conflicts(window.conflicts)
    if let history { lines += EditorScreen.history(history) }
    if !message.isEmpty { lines += ["", message] }
    return lines.joined(separator: "\n")
  }
}
