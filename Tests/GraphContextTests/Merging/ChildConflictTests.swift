import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// Conflicts between a child's changes and the values that the parent's merge policy has given the parent.
struct ChildConflictTests {
  private let library: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private let writer = Writer("Woolf", rank: 0)

  init() async throws {
    library = try await Library.open()
    (context, other) = (try library.context(), try library.context())
    context.insert(writer)
    try context.save()
    context.mergePolicy = .mergeByPropertyStoreTrump
    try other.refresh()
  }

  private func saveOther(_ rank: Int) throws {
    try other.existingObject(Writer.self, with: writer.objectID).rank = rank
    try other.save()
  }

  /// The moment at which a child changes a rank that its parent and another context change as well.
  enum Moment: CaseIterable {
    case beforeTheOther, afterTheOther, afterTheParentHasMovedOn
  }

  private static let sum = MergePolicy.custom { conflict in
    conflict.resolve(\Writer.rank) { base, mine, theirs in mine + theirs - (base ?? 0) }
  }

  /// The parent saves and merges between the child's change and the child's save.
  @Test(arguments: Moment.allCases, [false, true])
  func aChildsBaseIsWhatItsParentHasShown(moment: Moment, usesGrandchild: Bool) throws {
    context.mergePolicy = Self.sum
    writer.rank = 5
    let child = context.makeChild()
    let lowest = usesGrandchild ? child.makeChild() : child
    let copy = try lowest.existingObject(Writer.self, with: writer.objectID)
    if moment != .afterTheParentHasMovedOn { copy.rank += 4 }
    try saveOther(7)
    if moment != .beforeTheOther { try context.refresh() }
    if moment == .afterTheParentHasMovedOn { copy.rank += 4 }
    try context.save()
    #expect(writer.rank == 12 && copy.rank == 9)
    if usesGrandchild { try lowest.save() }
    try child.save()
    try context.save()
    #expect(writer.rank == 16)
  }

  /// The parent's save drops its own change of an object that others have deleted.
  @Test func aChildKeepsTheValuesOfAnObjectThatItsParentsSaveDrops() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let child = context.makeChild()
    let grandchild = child.makeChild()
    let (below, lowest) = (
      try child.existingObject(Writer.self, with: writer.objectID),
      try grandchild.existingObject(Writer.self, with: writer.objectID)
    )
    writer.rank = 5
    below.email = "woolf"
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    try context.save()
    #expect(writer.isDeleted)
    #expect(lowest.rank == 5 && lowest.name == "Woolf" && lowest.email == "woolf")
    #expect(below.rank == 5 && below.name == "Woolf")
    #expect(try grandchild.fetch(From<Writer>()).count == 1)
    #expect(throws: ContextError.self) { try child.save() }
    child.rollback()
    #expect(try child.fetch(From<Writer>()).isEmpty)
  }

  /// The child has changed the object after the merge, so it has no conflict of its own. The grandchild moves to another
  /// commit while the parent lets the object go.
  @Test func aGrandchildMovesOnWhileItsParentsSaveDropsAnObject() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let second = Writer("Sackville", rank: 1)
    context.insert(second)
    try context.save()
    try other.refresh()
    let child = context.makeChild()
    let grandchild = child.makeChild()
    let below = try child.existingObject(Writer.self, with: writer.objectID)
    let known = try grandchild.existingObject(Writer.self, with: second.objectID)
    writer.rank = 5
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    below.email = "woolf"
    try other.existingObject(Writer.self, with: second.objectID).rank = 2
    try other.save()
    try context.save()
    #expect(try child.fetch(From<Writer>()).count == 2)
    #expect(try grandchild.fetch(From<Writer>()).count == 2)
    #expect(known.rank == 2 && below.rank == 5 && below.name == "Woolf")
    #expect(throws: ContextError.self) { try child.save() }
    child.rollback()
    #expect(try grandchild.fetch(From<Writer>()) == [known])
  }

  /// Setting a value that the object has is no change, so the context doesn't keep that value as one.
  @Test func anEqualValueOfAnObjectThatIsChangedAndThenDeletedElsewhereIsKept() throws {
    writer.rank = 6
    try context.save()
    try other.refresh()
    let child = context.makeChild()
    let below = try child.existingObject(Writer.self, with: writer.objectID)
    writer.rank = 6
    writer.email = "woolf"
    try saveOther(3)
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    #expect(writer.rank == 6 && below.rank == 6)
    #expect(try child.fetch(From<Writer>()) == [below])
    #expect(try context.fetch(From<Writer>().where { $0.rank == 6 }) == [writer])
  }

  /// As in the first test, but the values of a new object replace the values that the child has seen.
  @Test func aChildsBaseIsWhatANewObjectHasReplaced() throws {
    writer.email = "woolf"
    writer.rank = 10
    try context.save()
    context.mergePolicy = Self.sum
    let child = context.makeChild()
    try child.existingObject(Writer.self, with: writer.objectID).rank += 2
    context.insert(Writer("Woolf", email: "woolf", rank: 20))
    try context.save(ifExists: .replace)
    #expect(writer.rank == 20)
    try child.save()
    try context.save()
    #expect(writer.rank == 22)
  }

  /// The ways in which a parent drops its own change.
  enum Letting: CaseIterable {
    case rollback, undo, refresh, discard
  }

  /// Until then the parent's change has kept the object, also for the child.
  @Test(arguments: Letting.allCases, [false, true])
  func aChildKeepsAnObjectThatItsParentLetsGo(letting: Letting, changesDesk: Bool) throws {
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    let grandchild = child.makeChild()
    let below = try child.existingObject(Writer.self, with: writer.objectID)
    let lowest = try grandchild.existingObject(Writer.self, with: writer.objectID)
    context.processPendingChanges()
    writer.rank = 5
    if changesDesk { writer.desk = Desk(1) }
    context.processPendingChanges()
    if changesDesk { below.desk = Desk(2) } else { below.email = "woolf" }
    child.processPendingChanges()
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    switch letting {
    case .rollback: context.rollback()
    case .undo: context.undo()
    case .refresh: context.refresh(writer, mergeChanges: false)
    case .discard: context.discardChanges(of: writer)
    }
    #expect(writer.context == nil)
    #expect(below.desk?.number == (changesDesk ? 2 : nil) && below.books.isEmpty)
    #expect(lowest.desk?.number == (changesDesk ? 2 : nil) && lowest.books.isEmpty)
    #expect(below.name == "Woolf" && lowest.name == "Woolf")
    #expect(try child.fetch(From<Writer>()) == [below])
    #expect(try grandchild.fetch(From<Writer>()) == [lowest])
    #expect(throws: ContextError.self) { try child.save() }
    child.rollback()
    #expect(try grandchild.fetch(From<Writer>()).isEmpty)
  }

  /// The child has changed a value that only its parent has shown. The child has never seen the value of the other
  /// context.
  @Test(arguments: Letting.allCases, [false, true])
  func aChangeOnTopOfOneThatIsTakenBackIsAConflict(letting: Letting, usesGrandchild: Bool) throws {
    context.mergePolicy = .error
    context.undoManager = ContextUndoManager()
    writer.rank = 1
    context.processPendingChanges()
    let child = context.makeChild()
    let lowest = usesGrandchild ? child.makeChild() : child
    try saveOther(5)
    try context.refresh()
    let copy = try lowest.existingObject(Writer.self, with: writer.objectID)
    copy.rank += 1
    switch letting {
    case .rollback: context.rollback()
    case .undo: context.undo()
    case .refresh: context.refresh(writer, mergeChanges: false)
    case .discard: context.discardChanges(of: writer)
    }
    #expect(writer.rank == 5 && copy.rank == 2)
    if usesGrandchild { try lowest.save() }
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["rank"])
    context.mergePolicy = Self.sum
    try context.save()
    #expect(writer.rank == 6)
  }

  /// As above, with a deletion in the child, which is undone or saved.
  @Test(arguments: Letting.allCases, [false, true])
  func aDeletionOnTopOfAChangeThatIsTakenBackIsAConflict(letting: Letting, isUndone: Bool) throws {
    context.mergePolicy = .error
    context.undoManager = ContextUndoManager()
    writer.rank = 1
    context.processPendingChanges()
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    try saveOther(5)
    try context.refresh()
    let copy = try child.existingObject(Writer.self, with: writer.objectID)
    copy.rank = 2
    child.processPendingChanges()
    child.delete(copy)
    switch letting {
    case .rollback: context.rollback()
    case .undo: context.undo()
    case .refresh: context.refresh(writer, mergeChanges: false)
    case .discard: context.discardChanges(of: writer)
    }
    if isUndone { child.undo() }
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict)
    if isUndone { #expect(error?.context.properties == ["rank"]) }
  }

  /// The parent has changed and then deleted the object, and takes both back.
  @Test(arguments: [Letting.rollback, .discard])
  func theBaseIsWhatTheParentShowedBeforeItsDeletion(letting: Letting) throws {
    context.mergePolicy = Self.sum
    writer.rank = 1
    let child = context.makeChild()
    let copy = try child.existingObject(Writer.self, with: writer.objectID)
    copy.rank += 1
    context.delete(writer)
    try saveOther(5)
    try context.refresh()
    if letting == .rollback { context.rollback() } else { context.discardChanges(of: writer) }
    try child.save()
    try context.save()
    #expect(writer.rank == 6)
  }

  /// The parent's link led elsewhere, and the child has changed it again.
  @Test(arguments: [Letting.rollback, .refresh, .discard])
  func aLinkOnTopOfOneThatIsTakenBackIsAConflict(letting: Letting) throws {
    let writers = ["a", "b", "c", "d"].map { Writer($0) }
    let book = Book("t", publisher: Publisher("p"))
    for object in writers { context.insert(object) }
    book.writer = writers[0]
    try context.save()
    try other.refresh()
    context.mergePolicy = .error
    book.writer = writers[1]
    let theirs = try other.existingObject(Book.self, with: book.objectID)
    theirs.writer = try other.existingObject(Writer.self, with: writers[2].objectID)
    try other.save()
    try context.refresh()
    let child = context.makeChild()
    let copy = try child.existingObject(Book.self, with: book.objectID)
    copy.writer = try child.existingObject(Writer.self, with: writers[3].objectID)
    switch letting {
    case .rollback: context.rollback()
    case .refresh: context.refresh(book, mergeChanges: false)
    default: context.discardChanges(of: book)
    }
    #expect(book.writer === writers[2])
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["writer"])
  }

  /// The other context has set the value that the parent had shown.
  @Test func aChangeOnTopOfAnEqualValueIsNone() throws {
    context.mergePolicy = .error
    writer.rank = 1
    let child = context.makeChild()
    try saveOther(1)
    try context.refresh()
    try child.existingObject(Writer.self, with: writer.objectID).rank += 1
    context.rollback()
    try child.save()
    try context.save()
    #expect(writer.rank == 2)
  }

  /// The child has deleted the object when it had an older value, and the parent has taken the deletion back.
  @Test func anObjectWhoseDeletionIsTakenBackHasNoConflict() throws {
    context.mergePolicy = .error
    context.undoManager = ContextUndoManager()
    let child = context.makeChild()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    try saveOther(10)
    try context.refresh()
    try child.save()
    context.undo()
    #expect(!writer.isDeleted && writer.rank == 10)
    writer.rank += 1
    try context.save()
    #expect(writer.rank == 11)
  }

  @Test func anObjectThatIsAsItWasBeforeItsDeletionHasNoConflict() throws {
    context.mergePolicy = .error
    context.undoManager = ContextUndoManager()
    context.delete(writer)
    for rank in [6, 0] { try saveOther(rank) }
    try context.refresh()
    context.undo()
    writer.rank += 1
    try context.save()
    #expect(writer.rank == 1)
  }

  /// The child has saved a deletion to its parent and then undone it. The parent takes the deletion back, too.
  @Test func anObjectThatAChildHasBroughtBackIsInConflict() throws {
    context.mergePolicy = .error
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    child.delete(try child.existingObject(Writer.self, with: writer.objectID))
    try child.save()
    try saveOther(10)
    try context.refresh()
    child.undo()
    context.rollback()
    try child.save()
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict)
  }

  @Test(arguments: [false, true]) func aChildMayPutBackWhatItsParentHasChanged(usesGrandchild: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    writer.rank = 5
    let child = context.makeChild()
    let lowest = usesGrandchild ? child.makeChild() : child
    let copy = try lowest.existingObject(Writer.self, with: writer.objectID)
    copy.rank = 0
    try saveOther(7)
    try context.save()
    #expect(writer.rank == 5 && copy.rank == 0 && lowest.hasChanges)
    if usesGrandchild { try lowest.save() }
    try child.save()
    try context.save()
    #expect(writer.rank == 0)
  }

  /// The child changes a rank that its parent has not saved. The child has never seen the store's rank.
  @Test(arguments: [false, true], [false, true])
  func aChangeOfARevertedValueIsAConflict(parentMovesOnBefore: Bool, usesGrandchild: Bool) throws {
    writer.rank = 1
    let child = context.makeChild()
    let lowest = usesGrandchild ? child.makeChild() : child
    try saveOther(5)
    if parentMovesOnBefore { try context.refresh() }
    let copy = try lowest.existingObject(Writer.self, with: writer.objectID)
    #expect(copy.rank == 1)
    copy.rank += 1
    try context.save()
    #expect(writer.rank == 5 && copy.rank == 2)
    if usesGrandchild { try lowest.save() }
    try child.save()
    #expect(writer.rank == 2)
    context.mergePolicy = .error
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .conflict && error?.context.properties == ["rank"])
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(writer.rank == 5)
  }

  @Test func aChangeOfAnotherPropertyIsNone() throws {
    writer.rank = 1
    let child = context.makeChild()
    try saveOther(5)
    try context.refresh()
    try child.existingObject(Writer.self, with: writer.objectID).name = "V. Woolf"
    try context.save()
    try child.save()
    context.mergePolicy = .error
    try context.save()
    #expect(writer.rank == 5 && writer.name == "V. Woolf")
  }

  @Test func aValueThatTheParentHasStoredIsNone() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    writer.rank = 1
    let child = context.makeChild()
    try saveOther(5)
    try context.refresh()
    let copy = try child.existingObject(Writer.self, with: writer.objectID)
    copy.rank += 1
    try context.save()
    #expect(writer.rank == 1)
    try child.save()
    context.mergePolicy = .error
    try context.save()
    #expect(writer.rank == 2)
  }

  // MARK: Kept objects

  /// An object that only its unsaved changes keep in a context is found by ID as it is by a fetch.
  @Test func anObjectThatItsChangesKeepExists() throws {
    writer.rank = 1
    other.delete(try other.existingObject(Writer.self, with: writer.objectID))
    try other.save()
    try context.refresh()
    #expect(try context.fetch(From<Writer>()) == [writer])
    #expect(try context.existingObject(Writer.self, with: writer.objectID) === writer)
    let child = context.makeChild()
    #expect(try child.existingObject(Writer.self, with: writer.objectID).rank == 1)
    let id = writer.objectID
    context.rollback()
    #expect(try context.fetch(From<Writer>()).isEmpty)
    #expect(throws: ContextError.self) { try context.existingObject(Writer.self, with: id) }
  }
}
