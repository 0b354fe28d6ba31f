import Cambium

/// A list of contacts with changes of its own. Two windows on one store show each other's saves, and no unsaved
/// changes.
@MainActor final class ContactWindow {
  let name: String
  private let container: PersistentContainer
  /// The child context of the open sheet, and the contact that is edited in it.
  private(set) var sheet: (context: ManagedObjectContext, contact: Contact)?
  /// The conflicts for which the last save was refused, until the user has resolved them.
  private(set) var conflicts: [Conflict] = []

  /// A value that was changed here and in the other window.
  struct Conflict {
    let contact: String
    /// Nil if the other window has deleted the contact.
    let property: String?
    let mine: String
    let theirs: String
  }

  /// - Parameter container: the window's own container. Another container on the same file has another view context.
  init(_ name: String, _ container: PersistentContainer) {
    self.name = name
    self.container = container
    (context.name, context.author) = (name, name)
  }

  var context: ManagedObjectContext { container.viewContext }

  var contacts: [Contact] {
    get throws { try context.fetch(From<Contact>().orderBy(\.name)) }
  }

  /// Shows the saves of the other window. An app with a run loop needn't call this: its main actor has turns of its
  /// own.
  func catchUp() throws { try container.waitForViewContext() }

  // MARK: Editing

  func add(_ name: String) { edit("Add \(name)") { context.insert(Contact(name: name)) } }

  func set(_ field: EditorCommand.Field, of row: Int?, to value: String?) throws {
    if let sheet {
      try Self.set(field, of: sheet.contact, to: value)
    } else {
      let contact = try contact(row)
      try edit("Set \(field.rawValue)") { try Self.set(field, of: contact, to: value) }
    }
  }

  func delete(_ row: Int) throws {
    let contact = try contact(row)
    edit("Delete \(contact.name)") { context.delete(contact) }
  }

  /// Makes the changes of `body` one step for undo.
  private func edit(_ name: String, _ body: () throws -> Void) rethrows {
    context.undoManager?.beginUndoGrouping()
    context.undoManager?.setActionName(name)
    defer {
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
    }
    try body()
  }

  private func contact(_ row: Int?) throws -> Contact {
    let contacts = try contacts
    guard let row, row > 0, row <= contacts.count else {
      throw EditorCommand.Mistake(message: "There is no such row.")
    }
    return contacts[row - 1]
  }

  private static func set(_ field: EditorCommand.Field, of contact: Contact, to value: String?) throws {
    switch field {
    case .name: contact.name = value ?? ""
    case .mail: contact.mail = value
    case .phone: contact.phone = value
    case .circle: contact.circle = try value.map { try circle($0, in: contact.context) }
    }
  }

  /// The circle of this name, which is made if there is none.
  private static func circle(_ name: String, in context: ManagedObjectContext?) throws -> Circle {
    if let known = try context?.fetchOne(From<Circle>().where { $0.name == name }) { return known }
    let circle = Circle(name: name)
    context?.insert(circle)
    return circle
  }

  // MARK: The sheet

  func openSheet(_ row: Int) throws {
    let child = context.makeChild(name: "\(name)'s sheet")
    let contact = try child.existingObject(Contact.self, with: contact(row).objectID)
    sheet = (child, contact)
  }

  /// Closes the sheet, with its changes or without them.
  func closeSheet(keepingChanges: Bool) throws {
    guard let sheet else { throw EditorCommand.Mistake(message: "No sheet is open.") }
    if keepingChanges { try sheet.context.save() }
    context.processPendingChanges()
    self.sheet = nil
  }

  // MARK: Saving

  /// Saves the window's changes. Values that the other window has changed meanwhile become ``conflicts``.
  func save(_ policy: MergePolicy = .error) async throws {
    conflicts = []
    context.mergePolicy = policy
    defer { context.mergePolicy = .error }
    do {
      try context.save()
    } catch {
      guard error.code == .conflict else { throw error }
      for failure in error.failures { conflicts += try await conflicts(of: failure) }
    }
  }

  func dismissConflicts() { conflicts = [] }

  private func conflicts(of failure: ContextError) async throws -> [Conflict] {
    guard let id = failure.context.objectID, id.entityName == Contact.entityName else { return [] }
    let stored = try await container.query { context in
      try context.fetchOne(From<Contact>().where { $0.objectID == id }).map(Self.values)
    }
    // The list also has a contact that the other window has deleted, as long as this window has changed it.
    let contact = try contacts.first { $0.objectID == id }
    let mine = contact.map(Self.values) ?? [:]
    let name = contact?.name ?? stored?["name"] ?? "A contact"
    guard let stored else {
      return [Conflict(contact: name, property: nil, mine: "changed", theirs: "deleted")]
    }
    return failure.context.properties.map { property in
      Conflict(
        contact: name,
        property: property,
        mine: mine[property] ?? "–",
        theirs: stored[property] ?? "–"
      )
    }
  }

  /// Returns the values of a contact, by the names of its properties, without those that are nil.
  nonisolated private static func values(_ contact: Contact) -> [String: String] {
    var values = ["name": contact.name]
    values["mail"] = contact.mail
    values["phone"] = contact.phone
    values["circle"] = contact.circle?.name
    return values
  }
}
