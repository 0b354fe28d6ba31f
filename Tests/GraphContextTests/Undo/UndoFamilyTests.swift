import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Deletions by undo and redo in children, while their parents change the same objects.
struct UndoFamilyTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let customs = Customs()

  init() async throws {
    store = try await Parcel.store()
    context = try store.context()
    context.insert(customs)
    context.insert(Gift())
    try context.save()
  }

  /// A descendant undoes the insertion of a parcel. Before this deletion reaches the outermost context, that context
  /// sets a reference of the parcel.
  ///
  /// - Parameter generations: the number of contexts below the outermost one. The last one undoes.
  @Test(arguments: [1, 2], [false, true]) func anUndoFollowsWhatTheOutermostHasSetSince(
    generations: Int,
    isDenied: Bool
  ) throws {
    var family = [context]
    for _ in 0..<generations { family.insert(family[0].makeChild(), at: 0) }
    family[0].undoManager = ContextUndoManager()
    let second = Parcel()
    family[0].insert(second)
    for member in family { try member.save() }
    #expect(family[0].undo())
    for member in family.dropLast(2) { try member.save() }
    let same = try context.existingObject(Parcel.self, with: second.objectID)
    if isDenied {
      same.customs = customs
      let error = #expect(throws: ContextError.self) { try family[generations - 1].save() }
      #expect(error?.code == .deletionDenied)
    } else {
      let part = Gift()
      context.insert(part)
      same.gift = part
      try family[generations - 1].save()
      try context.save()
      #expect(try context.count(From<Gift>()) == 1)
      #expect(try context.count(From<Parcel>()) == 0)
    }
  }

  /// The child itself has changed the reference, which is no change of the parent.
  @Test func aChildsUndoIsNotDeniedForWhatTheChildHasSet() throws {
    let child = context.makeChild()
    child.undoManager = ContextUndoManager()
    let second = Parcel()
    child.insert(second)
    second.customs = try child.existingObject(Customs.self, with: customs.objectID)
    try child.save()
    second.customs = nil
    try child.save()
    #expect(child.undo())
    #expect(child.undo())
    try child.save()
    try context.save()
    #expect(try context.count(From<Parcel>()) == 0)
  }
}
