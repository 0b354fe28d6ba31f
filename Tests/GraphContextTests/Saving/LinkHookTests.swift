import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class Stew {
  var name: String
  var saves: Int = 0
  @Relationship(inverse: \Herb.stews) var herbs: [Herb] = []

  init(_ name: String) { self.name = name }

  func willSave() { if saves < 10 { saves += 1 } }
  func validateForUpdate() throws {
    if herbs.isEmpty { throw ValidationError("has no herbs", properties: ["herbs"]) }
  }
}

@Model final class Herb {
  var name: String
  @Relationship var stews: [Stew] = []

  init(_ name: String) { self.name = name }
}

@Model final class Pot {
  var name: String = ""
  var count: Int = 0
  @Relationship(inverse: \Leaf.pots) var leaves: [Leaf] = []

  init() {}

  func willSave() { if count != leaves.count { count = leaves.count } }
}

@Model final class Leaf {
  var name: String = ""
  @Relationship var pots: [Pot] = []

  init() {}

  func willSave() { if name == "bad", !pots.isEmpty { pots = [] } }
}

@Model final class Photo {
  var name: String
  @Relationship(inverse: \Caption.photos) var captions: [Caption] = []

  init(_ name: String) { self.name = name }
}

@Model final class Caption {
  @Attribute(.unique(ifExists: .keep)) var text: String
  @Relationship var photos: [Photo] = []

  init(_ text: String) { self.text = text }

  func didSave() { TicketCalls.current?.list.append(text) }
}

/// An object whose many-to-many links change counts as changed: it is listed, and its hooks are called.
struct LinkHookTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let stew = Stew("stew")
  private let herbs = [Herb("mint"), Herb("sage")]

  init() async throws {
    store = try await PersistentContainer("Stews", models: Stew.self, Herb.self, at: .inMemory)
    context = try store.context()
    for object in [stew] + herbs as [any ManagedObject] { context.insert(object) }
    stew.herbs = [herbs[0]]
    try context.save()
  }

  @Test func bothEndsOfALinkAreUpdated() throws {
    #expect(!stew.hasChanges && context.updatedObjects.isEmpty)
    herbs[1].stews.append(stew)
    #expect(stew.hasChanges && stew.hasPersistentChanges && herbs[1].hasChanges && !herbs[0].hasChanges)
    #expect(Set(context.updatedObjects.map(\.objectID)) == [stew.objectID, herbs[1].objectID])
    stew.name = "soup"
    #expect(Set(context.updatedObjects.map(\.objectID)) == [stew.objectID, herbs[1].objectID])
    stew.name = "stew"
    herbs[1].stews = []
    #expect(!herbs[1].hasChanges)
  }

  @Test func hooksAreCalledForLinksAlone() throws {
    let count = stew.saves
    stew.herbs = []
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.context.properties == ["herbs"])
    stew.herbs = [herbs[1]]
    try context.save()
    #expect(stew.saves > count && context.updatedObjects.isEmpty && !stew.hasChanges)
    let reader = try store.context()
    defer { reader.end() }
    #expect(try reader.fetch(From<Stew>())[0].herbs.map(\.name) == ["sage"])
  }

  @Test func deletedObjectsAreNotUpdated() throws {
    context.delete(herbs[0])
    #expect(context.updatedObjects.map(\.objectID) == [stew.objectID])
    #expect(context.deletedObjects.map(\.objectID) == [herbs[0].objectID])
    let new = Herb("dill")
    context.insert(new)
    new.stews = [stew]
    #expect(context.insertedObjects.count == 1 && context.updatedObjects.count == 1)
    try context.save()
    #expect(stew.herbs == [new])
  }

  /// A new object that a save unifies with an existing one doesn't exist afterwards, and neither does one that
  /// another context has deleted.
  @Test func objectsThatAreGoneAreNotUpdated() async throws {
    let store = try await PersistentContainer("Photos", models: Photo.self, Caption.self, at: .inMemory)
    let (mine, theirs) = (try store.context(), try store.context())
    defer { [mine, theirs].forEach { $0.end() } }
    let photo = Photo("p")
    let captions = [Caption("sea"), Caption("sun")]
    for object in [photo] + captions as [any ManagedObject] { mine.insert(object) }
    try mine.save()
    try theirs.refresh()
    let calls = TicketCalls()
    photo.captions = [Caption("sea")]
    try TicketCalls.$current.withValue(calls) { try mine.save() }
    #expect(calls.list.allSatisfy { $0 == "sea" } && photo.captions == [captions[0]])
    #expect(try mine.fetch(From<Caption>()).count == 2)

    photo.captions.append(captions[1])
    theirs.delete(try theirs.existingObject(Caption.self, with: captions[1].objectID))
    try theirs.save()
    try mine.refresh()
    #expect(!mine.updatedObjects.contains { $0 is Caption })
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .missingDestination)
  }

  @Test func aChildCallsDidSaveForLinksAlone() async throws {
    let store = try await PersistentContainer("Photos", models: Photo.self, Caption.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let (photo, sea) = (Photo("p"), Caption("sea"))
    context.insert(photo)
    context.insert(sea)
    try context.save()
    let child = context.makeChild()
    let calls = TicketCalls()
    try child.existingObject(Photo.self, with: photo.objectID).captions = [
      try child.existingObject(Caption.self, with: sea.objectID)
    ]
    try TicketCalls.$current.withValue(calls) { try child.save() }
    #expect(calls.list == ["sea"])
  }

  /// The hook of an object has been called already when the hook of another changes its links.
  @Test func willSaveIsCalledAgainForLinksThatAnotherHookChanges() async throws {
    let store = try await PersistentContainer("Pots", models: Pot.self, Leaf.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let (pot, leaf) = (Pot(), Leaf())
    context.insert(pot)
    pot.leaves = [leaf]
    try context.save()
    #expect(pot.count == 1)
    (pot.name, leaf.name) = ("x", "bad")
    try context.save()
    #expect(pot.leaves.isEmpty && pot.count == 0)
  }
}
