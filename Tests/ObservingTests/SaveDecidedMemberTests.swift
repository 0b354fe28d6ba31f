import Cambium
import Testing

@testable import GraphContext

@Model private final class Binder {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Sheet.binder) var sheets: [Sheet] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Sheet {
  var name: String
  @Relationship var binder: Binder?
  @Relationship var labels: [SheetLabel] = []

  init(_ name: String) { self.name = name }
}

@Model private final class SheetLabel {
  var name: String
  @Relationship(inverse: \Sheet.labels) var sheets: [Sheet] = []

  init(_ name: String) { self.name = name }
}

@Model private final class UnifiedNote {
  var name: String
  @Relationship var tags: [UnifiedTag] = []

  init(_ name: String) { self.name = name }
}

@Model private final class UnifiedTag {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \UnifiedNote.tags) var notes: [UnifiedNote] = []

  init(_ name: String) { self.name = name }
}

/// Members of many-to-many relationships that a save itself decides about: by delete rules in the store, and by
/// unifying.
struct SaveDecidedMemberTests {
  /// The context deletes a binder that it shows as empty. Another context has put a sheet into it, so the save deletes
  /// the sheet as well, and the sheet's label loses a member.
  @Test func aMemberThatASaveDeletesByARuleLeavesTheSnapshots() async throws {
    let container = try await PersistentContainer(
      "Binders",
      models: Binder.self,
      Sheet.self,
      SheetLabel.self,
      at: .inMemory
    )
    let context = try container.context()
    let (old, new) = (Binder("old"), Binder("new"))
    let (sheet, label) = (Sheet("s"), SheetLabel("l"))
    context.insert(old)
    context.insert(new)
    context.insert(sheet)
    context.insert(label)
    sheet.binder = old
    sheet.labels = [label]
    try context.save()
    let id = sheet.objectID
    let other = try container.context()
    let moved = try other.existingObject(Sheet.self, with: id)
    moved.binder = try other.existingObject(Binder.self, with: new.objectID)
    try other.save()

    var observer: ObjectObserver<SheetLabel>? = try ObjectObserver(label)
    var states = try #require(try observer?.snapshots()).makeAsyncIterator()
    #expect(await states.next()??.sheets == [id])
    context.delete(new)
    try context.save()
    #expect(label.sheets.isEmpty)
    #expect(try observer?.snapshot()?.sheets == [])
    // The sequence ends with the observer, after the state that is waiting.
    observer = nil
    let last = await states.next()
    #expect(last??.sheets == [])
  }

  /// The save unifies a new tag with an existing one, so the note gets the existing one as a member.
  @Test func aMemberThatASaveUnifiesIsReplacedInTheSnapshots() async throws {
    let container = try await PersistentContainer(
      "Notes",
      models: UnifiedNote.self,
      UnifiedTag.self,
      at: .inMemory
    )
    let other = try container.context()
    let existing = UnifiedTag("swift")
    other.insert(existing)
    try other.save()
    let context = try container.context()
    let note = UnifiedNote("n")
    context.insert(note)
    try context.save()

    var observer: ObjectObserver<UnifiedNote>? = try ObjectObserver(note)
    var states = try #require(try observer?.snapshots()).makeAsyncIterator()
    #expect(await states.next()??.tags == [])
    let new = UnifiedTag("swift")
    context.insert(new)
    note.tags = [new]
    try context.save(ifExists: .keep)
    #expect(note.tags.map(\.objectID) == [existing.objectID])
    observer = nil
    let last = await states.next()
    #expect(last??.tags == [existing.objectID])
  }
}
