import Cambium
import Foundation
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// An embedded value that is nil has nil in all its parts, for every way of setting them.
struct WholeValueTests {
  private let container: PersistentContainer
  private let id: ManagedObjectID

  /// A tenant who works in Osaka.
  init() async throws {
    container = try await PersistentContainer(
      "Tenants",
      models: Tenant.self,
      Landlord.self,
      Visit.self,
      at: .inMemory
    )
    id = try await container.performBackgroundTask { context in
      let ann = Tenant("Ann", home: Address(street: "Sanjo"))
      ann.work = Address(street: "Midosuji", city: "Osaka")
      context.insert(ann)
      try context.save()
      return ann.objectID
    }
  }

  private func write(_ body: @escaping @Sendable (Tenant) throws -> Void) async throws {
    try await container.performBackgroundTask { [id] context in
      try body(try context.existingObject(Tenant.self, with: id))
      try context.save()
    }
  }

  private func work() async throws -> Address? {
    try await container.performBackgroundTask { [id] context in
      try context.existingObject(Tenant.self, with: id).work
    }
  }

  private static func makeWorkNil(of id: ManagedObjectID, in other: BackgroundContext) throws {
    try other.performAndWait { context in
      try context.existingObject(Tenant.self, with: id).work = nil
      try context.save()
    }
  }

  private func expectWhole() throws { #expect(try container.verify().map(\.description) == []) }

  /// Saves the changes of two contexts, one after the other. Returns the error of the second save.
  private func race(
    _ policy: MergePolicy,
    isRefreshed: Bool,
    _ first: @escaping @Sendable (Tenant) -> Void,
    _ second: @escaping @Sendable (Tenant) -> Void
  ) async throws -> ContextError? {
    let other = try container.newBackgroundContext()
    return try await container.performBackgroundTask { [id] context in
      context.mergePolicy = policy
      let ann = try context.existingObject(Tenant.self, with: id)
      second(ann)
      try other.performAndWait { context in
        first(try context.existingObject(Tenant.self, with: id))
        try context.save()
      }
      do throws(ContextError) {
        if isRefreshed { try context.refresh() }
        try context.save()
        return nil
      } catch { return error }
    }
  }

  private static let noWork: @Sendable (Tenant) -> Void = { $0.work = nil }
  private static let number: @Sendable (Tenant) -> Void = { $0.work?.number = 5 }

  @Test(arguments: [false, true])
  func aPartOfWhatAnotherMakesNilIsAConflict(isRefreshed: Bool) async throws {
    let error = try await race(.error, isRefreshed: isRefreshed, Self.noWork, Self.number)
    #expect(error?.code == .conflict)
    #expect(error?.context.properties.contains("work.number") == true)
    #expect(try await work() == nil)
    try expectWhole()
  }

  @Test(arguments: [false, true])
  func toMakeNilWhatAnotherHasChangedIsAConflict(isRefreshed: Bool) async throws {
    let error = try await race(.error, isRefreshed: isRefreshed, Self.number, Self.noWork)
    #expect(error?.code == .conflict)
    #expect(try await work()?.number == 5)
    try expectWhole()
  }

  @Test(arguments: [false, true])
  func aPolicyDecidesAboutTheWholeValue(isRefreshed: Bool) async throws {
    let osaka = try await work()
    for policy in [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback]
    {
      let isMine = policy == .mergeByPropertyObjectTrump || policy == .overwrite
      var error = try await race(policy, isRefreshed: isRefreshed, Self.noWork, Self.number)
      #expect(error == nil)
      let kept = try await work()
      // A context that has learned that the value is nil shows no part of it.
      #expect(isMine && !isRefreshed ? kept?.number == 5 && kept?.street == osaka?.street : kept == nil)
      try expectWhole()
      try await write { $0.work = osaka }
      error = try await race(policy, isRefreshed: isRefreshed, Self.number, Self.noWork)
      #expect(error == nil)
      let left = try await work()
      #expect(isMine ? left == nil : left?.number == 5)
      try expectWhole()
      try await write { $0.work = osaka }
    }
  }

  @Test(arguments: [false, true])
  func aChildsPartOfWhatAnotherMakesNilIsAConflict(isRefreshed: Bool) async throws {
    let other = try container.newBackgroundContext()
    try await container.performBackgroundTask { [id] (context: ManagedObjectContext) throws -> Void in
      context.mergePolicy = .error
      let child = context.makeChild()
      let ann = try context.existingObject(Tenant.self, with: id)
      #expect(ann.work != nil)
      try child.existingObject(Tenant.self, with: id).work?.number = 5
      try Self.makeWorkNil(of: id, in: other)
      if isRefreshed { try context.refresh() }
      try child.save()
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .conflict && error?.context.properties.contains("work.number") == true)
      context.rollback()
      try context.refresh()
      ann.work = Address(street: "Teramachi")
      try context.save()
    }
    #expect(try await work()?.street == "Teramachi")
    try expectWhole()
  }

  /// The parent itself has set the value to nil. The child's change of a part is dropped, whatever other contexts
  /// have changed.
  @Test func aChildsPartOfWhatItsParentMakesNilIsDropped() async throws {
    let other = try container.newBackgroundContext()
    try await container.performBackgroundTask { [id] (context: ManagedObjectContext) throws -> Void in
      context.mergePolicy = .mergeByPropertyObjectTrump
      let child = context.makeChild()
      try child.existingObject(Tenant.self, with: id).work?.number = 5
      try context.existingObject(Tenant.self, with: id).work = nil
      try other.performAndWait { context in
        try context.existingObject(Tenant.self, with: id).work?.street = "Teramachi"
        try context.save()
      }
      try context.refresh()
      try child.save()
      try context.save()
    }
    #expect(try await work() == nil)
    try expectWhole()
  }

  /// The child has seen that the value is nil. The parent takes back its change of a part that no longer exists.
  @Test func aValueThatTakesThePlaceOfNilIsInNoConflict() async throws {
    let other = try container.newBackgroundContext()
    try await container.performBackgroundTask { [id] (context: ManagedObjectContext) throws -> Void in
      context.mergePolicy = .error
      try context.existingObject(Tenant.self, with: id).work?.number = 3
      let child = context.makeChild()
      try Self.makeWorkNil(of: id, in: other)
      try context.refresh()
      let copy = try child.existingObject(Tenant.self, with: id)
      #expect(copy.work == nil)
      copy.work = Address(street: "Teramachi")
      context.rollback()
      try child.save()
      try context.save()
    }
    #expect(try await work()?.street == "Teramachi")
    try expectWhole()
  }

  /// A redo doesn't set a part of a value that another context has set to nil.
  @Test func aPartOfNilIsNotDoneAgain() async throws {
    let other = try container.newBackgroundContext()
    try await container.performBackgroundTask { [id] (context: ManagedObjectContext) throws -> Void in
      context.undoManager = ContextUndoManager()
      let ann = try context.existingObject(Tenant.self, with: id)
      ann.work?.number = 5
      context.processPendingChanges()
      try Self.makeWorkNil(of: id, in: other)
      try context.refresh()
      context.undo()
      context.redo()
      #expect(ann.work == nil)
      try context.save()
    }
    #expect(try await work() == nil)
    try expectWhole()
  }

  /// No conflict is left when the context's own change is undone.
  @Test func anUndonePartIsInNoConflict() async throws {
    let other = try container.newBackgroundContext()
    try await container.performBackgroundTask { [id] (context: ManagedObjectContext) throws -> Void in
      context.mergePolicy = .error
      context.undoManager = ContextUndoManager()
      let ann = try context.existingObject(Tenant.self, with: id)
      ann.work?.number = 5
      context.processPendingChanges()
      try Self.makeWorkNil(of: id, in: other)
      try context.refresh()
      context.undo()
      #expect(ann.work == nil && !context.hasChanges)
      ann.work = Address(street: "Teramachi")
      try context.save()
    }
    #expect(try await work()?.street == "Teramachi")
    try expectWhole()
  }

  @Test func aBatchSetsNoPartOfNil() async throws {
    try await container.write { context in context.insert(Tenant("Ben", home: Address(street: "B"))) }
    let error = await #expect(throws: ContextError.self) {
      try await container.batchUpdate(From<Tenant>(), .set(\.work?.city, to: "Uji"))
    }
    #expect(error?.code == .wrongValue && error?.context.properties == ["work.city"])
    #expect(error?.message.contains("of object 2 has a value, but") == true)
    let working = From<Tenant>().where { $0.work != nil }
    try await container.batchUpdate(working, .set(\.work?.city, to: "Uji"))
    #expect(try await work()?.city == "Uji")
    let inserted = await #expect(throws: ContextError.self) {
      try await container.batchInsert(
        Tenant.self,
        from: ["C"],
        .set(\.name) { $0 },
        .set(\.home.street) { $0 },
        .set(\.work?.city) { $0 }
      )
    }
    #expect(inserted?.failures.contains { $0.context.properties == ["work.city"] } == true)
    try expectWhole()
  }

  @Test func namesSetNoPartOfNil() async throws {
    for (name, code) in [("work", ContextError.Code.wrongValue), ("work.street", .missingValue)] {
      let error = await #expect(throws: ContextError.self) {
        try await write { try $0.setValue(.null, forKey: name) }
      }
      #expect(error?.code == code)
    }
    // The name of the whole value takes only true or nil.
    let flag = await #expect(throws: ContextError.self) {
      try await write { try $0.setValue(.bool(false), forKey: "work") }
    }
    #expect(flag?.code == .wrongValue)
    // An optional part may be nil.
    try await write { try $0.setValue(.null, forKey: "work.number") }
    try await write { $0.work = nil }
    let error = await #expect(throws: ContextError.self) {
      try await write { try $0.setValue(.string("Uji"), forKey: "work.city") }
    }
    #expect(error?.code == .wrongValue && error?.context.properties == ["work.city"])
    try expectWhole()
  }

  @Test func recordsSetNoPartOfNil() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("tenants.cambium"))
    let first = try await PersistentContainer(
      "Tenants",
      models: Tenant.self,
      Landlord.self,
      Visit.self,
      at: url
    )
    try await first.write { context in context.insert(Tenant("Ann", home: Address(street: "A"))) }
    try await first.close()
    let container = try await PersistentContainer("Tenants", at: url)
    try await container.performBackgroundTask { context in
      let ann = try #require(try context.fetch(DynamicQuery("Tenant")).first)
      try ann.set("work.city", to: "Uji")
      var error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .wrongValue)
      try ann.set("work", to: true)
      error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .missingValue)
      let lacking = error?.failures.flatMap(\.context.properties).sorted()
      #expect(
        lacking == ["work.isCentral", "work.isQuiet", "work.keywords", "work.street", "work.zone"]
      )
      context.rollback()
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  @Test(arguments: ["work", "work.street"])
  func aDamagedValueIsReported(name: String) async throws {
    let schema = container.coordinator.schema
    try await container.store.write { transaction in
      let entity = try #require(schema.entity(named: "Tenant"))
      let property = try #require(entity.schema.storedProperty(named: name))
      let tree = try transaction.tree(entity.treeName)
      let key = KeyCoder.key(of: id.number)
      var encoder = RecordEncoder(layout: entity.layout)
      let bytes = try #require(try tree.value(for: key)).withUnsafeBytes { stored in
        let record = RecordView(validated: stored, layout: entity.layout)
        return [UInt8](encoder.encode(record, replacing: property.slot, with: .null))
      }
      _ = try tree.put(key, bytes)
    }
    let messages = try await container.verify().map(\.message)
    if name == "work" {
      #expect(messages.contains("Tenant 1 has no value for work, but one for work.city"))
    } else {
      #expect(messages == ["Tenant 1 has a value for work, but none for work.street"])
    }
  }
}
