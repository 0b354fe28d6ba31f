import Cambium
import Foundation
import Testing

@testable import GraphContext

/// What a group deletes when it is undone or redone: no more than it has inserted, or had deleted.
struct UndoDeletionTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let parcel = Parcel()
  private let gift = Gift()
  private let customs = Customs()

  init() async throws {
    store = try await PersistentContainer(
      "Parcels",
      models: [
        Carton.self, Parcel.self, Gift.self, Customs.self, GiftTag.self, Jury.self, Medal.self, Winner.self,
        Padlock.self, PadlockKey.self, Mount.self, MountedPhoto.self,
      ],
      at: .inMemory
    )
    context = try store.context()
    for object in [parcel, gift, customs] as [any ManagedObject] { context.insert(object) }
    parcel.gift = gift
    try context.save()
  }

  private func recordUndo() { context.undoManager = ContextUndoManager() }

  /// A new object that leads to a stored one goes alone, whether its insertion was saved or not.
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

  /// A photo can't be without its mount, so it goes with the mount that it was new on.
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

  /// A rule denies the redone deletion if it has denied the first one, and only then.
  @Test(arguments: [false, true]) func aRedoneDeletionIsDeniedAsTheFirst(isTakenOut: Bool) throws {
    parcel.customs = customs
    try context.save()
    recordUndo()
    if isTakenOut { parcel.customs = nil }
    context.delete(parcel)
    context.processPendingChanges()
    #expect(context.undo())
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

  /// A link to an object that others have deleted meanwhile is taken back all the same, or the context couldn't be saved.
  @Test func aLinkToWhatIsGoneIsTakenBack() throws {
    let (medal, winner) = (Medal(), Winner())
    context.insert(medal)
    context.insert(winner)
    try context.save()
    recordUndo()
    winner.medals = [medal]
    context.processPendingChanges()
    let other = try store.context()
    defer { other.end() }
    other.delete(try other.existingObject(Medal.self, with: medal.objectID))
    try other.save()
    try context.refresh()
    #expect(context.undo())
    #expect(!context.hasChanges)
    try context.save()
    #expect(try context.fetch(From<Winner>()).first?.medals.isEmpty == true)
  }
}
