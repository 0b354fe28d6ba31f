import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// The objects that an undo or redo of a group deletes: only objects that the group has inserted or had deleted.
struct UndoDeletionTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let parcel = Parcel()
  private let gift = Gift()
  private let customs = Customs()

  init() async throws {
    store = try await Parcel.store()
    context = try store.context()
    for object in [parcel, gift, customs] as [any ManagedObject] { context.insert(object) }
    parcel.gift = gift
    try context.save()
  }

  private func recordUndo() { context.undoManager = ContextUndoManager() }

  /// The rule `.deny` leaves the links of a deleted object: they make the save fail.
  @Test func linksToAnObjectWhoseDeletionIsDeniedComeBack() async throws {
    let library = try await Library.open()
    let context = try library.context()
    let publisher = Publisher("Hogarth")
    let book = Book("Orlando", publisher: publisher)
    context.insert(book)
    try context.save()
    context.undoManager = ContextUndoManager()
    for object in [publisher, book] as [any ManagedObject] {
      context.delete(object)
      context.processPendingChanges()
    }
    #expect(context.undo())
    #expect(!book.isDeleted && book.publisher === publisher && publisher.isDeleted)
    #expect(context.undo())
    #expect(!publisher.isDeleted && book.publisher === publisher && publisher.books == [book])
    #expect(!context.hasChanges)
    #expect(context.redo() && context.redo())
    try context.save()
    #expect(try context.count(From<Book>()) == 0 && context.count(From<Publisher>()) == 0)
  }

  /// The undo of an insertion doesn't delete a stored object that the new object leads to, whether the insertion was
  /// saved or not.
  @Test(arguments: [false, true], [false, true])
  func anInsertionLeavesWhatItLedTo(isSaved: Bool, isChild: Bool) throws {
    let child = isChild ? context.makeChild() : context
    child.undoManager = ContextUndoManager()
    let second = Parcel()
    child.insert(second)
    second.gift = try child.existingObject(Gift.self, with: gift.objectID)
    if isSaved { try child.save() }
    child.processPendingChanges()
    #expect(child.undo())
    #expect(!gift.isDeleted)
    try child.save()
    try context.save()
    #expect(try context.count(From<Gift>()) == 1)
    #expect(try context.count(From<Parcel>()) == 1)
  }

  @Test func anInsertionGivesThePartnerBack() throws {
    let (first, key) = (Padlock(), PadlockKey())
    context.insert(first)
    context.insert(key)
    first.key = key
    try context.save()
    recordUndo()
    let second = Padlock()
    context.insert(second)
    second.key = key
    context.processPendingChanges()
    #expect(context.undo())
    #expect(!key.isDeleted && key.lock === first && first.key === key)
    try context.save()
    #expect(try context.count(From<PadlockKey>()) == 1)
  }

  /// A photo requires its mount, so undoing the insertion of the mount also deletes the photo.
  @Test func whatNeedsTheNewObjectGoesWithIt() throws {
    recordUndo()
    let mount = Mount()
    context.insert(mount)
    context.insert(MountedPhoto(mount))
    context.processPendingChanges()
    #expect(context.undo())
    try context.save()
    #expect(try context.count(From<Mount>()) == 0)
    #expect(try context.count(From<MountedPhoto>()) == 0)
    #expect(context.redo())
    try context.save()
    #expect(try context.count(From<MountedPhoto>()) == 1)
  }

  @Test func aRedoneDeletionSparesWhatWasTakenOut() throws {
    recordUndo()
    parcel.gift = nil
    context.delete(parcel)
    context.processPendingChanges()
    #expect(context.undo())
    #expect(parcel.gift === gift)
    #expect(context.redo())
    #expect(!gift.isDeleted)
    try context.save()
    #expect(try context.count(From<Gift>()) == 1)
  }

  @Test func aRedoneDeletionTakesAlongWhatItTook() throws {
    recordUndo()
    context.delete(parcel)
    context.processPendingChanges()
    #expect(context.undo())
    #expect(!gift.isDeleted)
    #expect(context.redo())
    #expect(gift.isDeleted)
    try context.save()
    #expect(try context.count(From<Gift>()) == 0)
  }

  /// A rule denies the redone deletion if it has denied the first one, and only then: also if the deletion and its undo were saved.
  @Test(arguments: [(false, false), (true, false), (true, true)])
  func aRedoneDeletionIsDeniedAsTheFirst(isTakenOut: Bool, isSaved: Bool) throws {
    parcel.customs = customs
    try context.save()
    recordUndo()
    for _ in 0..<2 {
      if isTakenOut { parcel.customs = nil }
      context.delete(parcel)
      context.processPendingChanges()
      if isSaved { try context.save() }
      #expect(context.undo())
      if isSaved { try context.save() }
      #expect(parcel.customs === customs)
    }
    #expect(context.redo())
    if isTakenOut {
      try context.save()
      #expect(try context.count(From<Parcel>()) == 0)
    } else {
      #expect(throws: ContextError.self) { try context.save() }
      context.rollback()
    }
    #expect(try context.count(From<Customs>()) == 1)
  }

  @Test func aRedoneDeletionOfAChildSparesWhatTheChildHasTakenOut() throws {
    recordUndo()
    let child = context.makeChild()
    let same = try child.existingObject(Parcel.self, with: parcel.objectID)
    same.gift = nil
    child.delete(same)
    try child.save()
    context.processPendingChanges()
    #expect(!gift.isDeleted)
    #expect(context.undo())
    #expect(context.redo())
    #expect(!gift.isDeleted)
    try context.save()
    #expect(try context.count(From<Gift>()) == 1)
  }

  /// An earlier group has emptied the reference, and another context has set it since: the rule counts again.
  @Test func aRedoneDeletionIsDeniedByWhatOthersHaveSet() throws {
    parcel.customs = customs
    try context.save()
    recordUndo()
    parcel.customs = nil
    context.processPendingChanges()
    context.delete(parcel)
    context.processPendingChanges()
    #expect(context.undo())
    try context.save()
    try setInAnotherContext { parcel, other in
      parcel.customs = try other.existingObject(Customs.self, with: customs.objectID)
    }
    #expect(context.redo())
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .deletionDenied)
  }

  /// The new object got a gift after its group. The undo deletes this gift, too, because no other object leads to it.
  @Test func anInsertionTakesAlongWhatItGotLater() throws {
    recordUndo()
    let second = Parcel()
    context.insert(second)
    context.processPendingChanges()
    try context.save()
    try setInAnotherContext(second.objectID) { parcel, other in
      let part = Gift()
      other.insert(part)
      parcel.gift = part
    }
    #expect(try context.count(From<Gift>()) == 2)
    #expect(context.undo())
    try context.save()
    #expect(try context.count(From<Gift>()) == 1)
    #expect(!gift.isDeleted)
  }

  /// The group that has inserted an object has also set its reference, so the reference denies nothing when the group is undone.
  @Test func aSavedInsertionIsUndoneThoughARuleDeniesDeletions() throws {
    recordUndo()
    let second = Parcel()
    context.insert(second)
    second.customs = customs
    context.processPendingChanges()
    try context.save()
    #expect(context.undo())
    try context.save()
    #expect(try context.count(From<Parcel>()) == 1)
    #expect(context.redo())
    try context.save()
    #expect(second.customs === customs)
    #expect(context.undo())
    try context.save()
    #expect(try context.count(From<Parcel>()) == 1)
    #expect(try context.count(From<Customs>()) == 1)
  }

  /// No rule denies a deletion in an open group if an earlier save of the group has stored the empty reference.
  @Test func aRedoneDeletionOfALongGroupIsNotDenied() throws {
    parcel.customs = customs
    try context.save()
    recordUndo()
    context.undoManager?.beginUndoGrouping()
    parcel.customs = nil
    try context.save()
    context.delete(parcel)
    context.undoManager?.endUndoGrouping()
    #expect(context.undo())
    #expect(parcel.customs === customs)
    #expect(context.redo())
    try context.save()
    #expect(try context.count(From<Parcel>()) == 0)
  }

  /// A reference that another context sets while a group is open isn't a change of the group, so the delete rule
  /// applies to it.
  @Test(arguments: [false, true]) func whatOthersSetInAnOpenGroupFollowsItsRule(isDenied: Bool) throws {
    recordUndo()
    context.undoManager?.beginUndoGrouping()
    let second = Parcel()
    context.insert(second)
    try context.save()
    try setInAnotherContext(second.objectID) { parcel, other in
      if isDenied {
        parcel.customs = try other.existingObject(Customs.self, with: customs.objectID)
      } else {
        let part = Gift()
        other.insert(part)
        parcel.gift = part
      }
    }
    context.undoManager?.endUndoGrouping()
    #expect(context.undo())
    if isDenied {
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .deletionDenied)
    } else {
      try context.save()
      #expect(try context.count(From<Gift>()) == 1)
    }
  }

  /// The program has taken a deletion back, and an undo makes the deletion again. The rule denies it as the first time.
  @Test func anUndoneReturnIsDeniedAsTheDeletion() throws {
    parcel.customs = customs
    try context.save()
    recordUndo()
    context.delete(parcel)
    context.processPendingChanges()
    context.discardChanges(of: parcel)
    context.processPendingChanges()
    #expect(context.undo())
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .deletionDenied)
  }

  /// The new object that the reference leads to has left the context.
  @Test func aNewObjectThatIsDeletedTooDeniesNothing() throws {
    let fresh = Customs()
    context.insert(fresh)
    parcel.customs = fresh
    context.delete(parcel)
    context.delete(fresh)
    try context.save()
    #expect(try context.count(From<Parcel>()) == 0)
    #expect(try context.count(From<Customs>()) == 1)
  }

  /// Changes a parcel in another context, saves it, and shows it in this one.
  private func setInAnotherContext(
    _ id: ManagedObjectID? = nil,
    _ change: (Parcel, ManagedObjectContext) throws -> Void
  ) throws {
    let other = try store.context()
    defer { other.end() }
    try change(other.existingObject(Parcel.self, with: id ?? parcel.objectID), other)
    try other.save()
    try context.refresh()
  }
}
