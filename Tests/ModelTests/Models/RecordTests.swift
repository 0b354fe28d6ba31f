import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// Records by name: reading, setting, and refusals.
struct RecordTests {
  private func error(_ body: () throws -> some Any) -> ContextError? {
    do { _ = try body() } catch { return error as? ContextError }
    return nil
  }

  /// A context of a library without classes, in memory.
  private func withContext(_ body: (ManagedObjectContext) throws -> Void) async throws {
    let library = try await Museum.openWithoutClasses()
    let context = try library.context()
    try body(context)
    context.end()
    #expect(try await library.verify().map(\.description) == [])
  }

  /// An exhibit that can be saved.
  private func exhibit(in context: ManagedObjectContext) throws -> ManagedRecord {
    let record = try context.insert(entity: "Exhibit")
    for attribute in record.entity.attributes where !attribute.isOptional {
      switch attribute.kind {
      case .bool: try record.set(attribute.name, to: false)
      case .float: try record.set(attribute.name, to: 0 as Float)
      case .double: try record.set(attribute.name, to: 0.0)
      case .date: try record.set(attribute.name, to: Date(timeIntervalSinceReferenceDate: 0))
      case .string: try record.set(attribute.name, to: "")
      default: try record.set(attribute.name, to: AttributeValue.int(0))
      }
    }
    try record.setObject("owner", to: owner(in: context))
    return record
  }

  private func owner(in context: ManagedObjectContext) throws -> ManagedRecord {
    let owner = try context.insert(entity: "Owner")
    try owner.set("number", to: 1)
    return owner
  }

  // MARK: Attributes

  @Test func aRecordHasItsEntityAndItsValues() async throws {
    try await withContext { context in
      let record = try exhibit(in: context)
      #expect(record.entity == (try Museum.schema().entity(named: "Exhibit")))
      #expect(record.objectID.entityName == "Exhibit")
      #expect(try record["note"].isNull)
      try record.set("note", to: "Blue")
      try record.set("tiny", to: 7 as Int8)
      #expect(try record["note"] == .string("Blue"))
      #expect(try record.value("note", as: String.self) == "Blue")
      #expect(try record.value("tiny", as: Int8.self) == 7)
      #expect(try record.value("tiny", as: Int.self) == 7)
      try record.set("note", to: .null)
      #expect(try record.value("note", as: String.self) == nil)
      try record.set("note", to: String?.some("Green"))
      let id = record.objectID
      try context.save()
      context.reset()
      #expect(record.isDeleted)
      #expect(try record["note"] == .string("Green"))
      let again = try context.object(ManagedRecord.self, with: id)
      #expect(again.isFault)
      #expect(try again["note"] == .string("Green"))
      #expect(try again.value("tiny", as: Int8.self) == 7)
      #expect(try context.object(ManagedRecord.self, with: id) === again)
      #expect(try context.existingObject(ManagedRecord.self, with: id) === again)
    }
  }

  @Test func aValueOfAnotherKindIsRefused() async throws {
    try await withContext { context in
      let record = try exhibit(in: context)
      #expect(error { try record.set("tiny", to: 200) }?.code == .wrongValue)
      #expect(error { try record.set("byte", to: -1) }?.code == .wrongValue)
      #expect(error { try record.set("text", to: 1) }?.code == .wrongValue)
      #expect(error { try record.set("long", to: "1") }?.code == .wrongValue)
      #expect(error { try record.set("double", to: 1) }?.code == .wrongValue)
      #expect(error { try record.set("single", to: 0.1) }?.code == .wrongValue)
      #expect(error { try record.set("key", to: AttributeValue.reference(1)) }?.code == .wrongValue)
      #expect(error { try record.value("text", as: Int.self) }?.code == .wrongValue)
      let refused = error { try record.set("tiny", to: 200) }
      #expect(refused?.context.properties == ["tiny"])
      #expect(refused?.context.objectID == record.objectID)
      #expect(refused?.message == "Exhibit.tiny takes a value of the kind int8, and not this one")
      #expect(try record["tiny"] == .int(0))
      try record.set("wide", to: AttributeValue.uint(5))
      #expect(try record["wide"] == .int(5))
    }
  }

  @Test func aNameThatIsNoneIsRefused() async throws {
    try await withContext { context in
      let record = try exhibit(in: context)
      #expect(error { try record["titel"] }?.code == .unknownProperty)
      #expect(error { try record.set("titel", to: "") }?.code == .unknownProperty)
      #expect(error { try record["room"] }?.code == .unknownProperty)
      #expect(error { try record.set("room", to: 1) }?.code == .unknownProperty)
      #expect(error { try record.object("text") }?.code == .unknownProperty)
      #expect(error { try record.object("tags") }?.code == .unknownProperty)
      #expect(error { try record.setObject("tags", to: nil) }?.code == .unknownProperty)
      #expect(error { try record.objects("room") }?.code == .unknownProperty)
      #expect(error { try record.count(of: "nothing") }?.code == .unknownProperty)
      #expect(error { try record.add(record, to: "room") }?.code == .unknownProperty)
      #expect(error { try record.remove(record, from: "text") }?.code == .unknownProperty)
      #expect(error { try record["room"] }?.message == "Exhibit has no attribute named “room”")
      #expect(error { try context.insert(entity: "Exhibits") }?.code == .unknownEntity)
      #expect(error { try context.fetch(DynamicQuery("Exhibits")) }?.code == .unknownEntity)
    }
  }

  @Test func whatIsRequiredIsMissedByTheSave() async throws {
    try await withContext { context in
      let record = try exhibit(in: context)
      try record.set("text", to: .null)
      let first = #expect(throws: ContextError.self) { try context.save() }
      #expect(first?.code == .missingValue)
      #expect(first?.context.properties == ["text"])
      try record.set("text", to: "Vase")
      try record.setObject("owner", to: nil)
      let second = #expect(throws: ContextError.self) { try context.save() }
      #expect(second?.code == .missingValue)
      #expect(second?.context.properties == ["owner"])
      try record.setObject("owner", to: owner(in: context))
      try context.save()
    }
  }

  // MARK: Relationships

  @Test func inversesFollow() async throws {
    try await withContext { context in
      let (vase, bowl) = (try exhibit(in: context), try exhibit(in: context))
      let (room, plate) = (try context.insert(entity: "Room"), try context.insert(entity: "Plate"))
      try room.set("number", to: 1)
      try plate.set("number", to: 2)
      try vase.setObject("room", to: room)
      try room.add(bowl, to: "exhibits")
      #expect(try room.objects("exhibits") == [vase, bowl])
      #expect(try bowl.object("room") === room)
      try context.save()
      try room.remove(vase, from: "exhibits")
      #expect(try vase.object("room") == nil)
      #expect(try room.count(of: "exhibits") == 1)
      try plate.setObject("exhibit", to: vase)
      try bowl.setObject("plate", to: plate)
      #expect(try vase.object("plate") == nil)
      #expect(try plate.object("exhibit") === bowl)
      try vase.add(bowl, to: "neighbours")
      #expect(try bowl.objects("neighbours") == [vase])
      try context.save()
      #expect(context.updatedObjects.isEmpty)
    }
  }

  @Test func deleteRulesHold() async throws {
    try await withContext { context in
      let vase = try exhibit(in: context)
      let (room, plate) = (try context.insert(entity: "Room"), try context.insert(entity: "Plate"))
      try room.set("number", to: 1)
      try plate.set("number", to: 2)
      try vase.setObject("room", to: room)
      try vase.setObject("plate", to: plate)
      try context.save()
      let owner = try #require(try vase.object("owner"))
      context.delete(owner)
      #expect(error { try context.save() }?.code == .deletionDenied)
      context.rollback()
      context.delete(room)
      #expect(vase.isDeleted && plate.isDeleted)
      try context.save()
      #expect(try context.fetch(DynamicQuery("Exhibit")).isEmpty)
      #expect(try context.fetch(DynamicQuery("Plate")).isEmpty)
      #expect(try owner.count(of: "exhibits") == 0)
    }
  }

  @Test func onlyObjectsOfTheDestinationInTheSameContextAreLinked() async throws {
    let museum = try await Museum.openWithoutClasses()
    let (context, other) = (try museum.context(), try museum.context())
    let vase = try exhibit(in: context)
    let (room, foreign) = (try context.insert(entity: "Room"), try other.insert(entity: "Room"))
    #expect(error { try vase.setObject("room", to: vase) }?.code == .wrongDestination)
    #expect(error { try room.add(room, to: "exhibits") }?.code == .wrongDestination)
    #expect(error { try vase.setObject("room", to: foreign) }?.code == .otherContext)
    #expect(error { try vase.add(foreign, to: "tags") }?.code == .otherContext)
    #expect(
      error { try vase.setObject("room", to: vase) }?.message
        == "Exhibit.room leads to Room, and not to Exhibit"
    )
    // A class's objects in no context, and in another container's.
    let typed = Museum.Room()
    #expect(error { try vase.setObject("room", to: typed) }?.code == .otherContext)
    #expect(error { try vase.object("room", as: Museum.Room.self) }?.code == .wrongDestination)
    other.rollback()
    #expect(error { try vase.setObject("room", to: foreign) }?.code == .otherContext)
    #expect(error { try foreign.add(vase, to: "exhibits") }?.code == .otherContext)
    #expect(try foreign.objects("exhibits").isEmpty)
    other.insert(foreign)
    try foreign.set("number", to: 1)
    try other.save()
    other.reset()
    #expect(error { try vase.setObject("room", to: foreign) }?.code == .objectNotFound)
    #expect(error { try foreign.add(vase, to: "exhibits") }?.code == .objectNotFound)
    #expect(try vase.object("room") == nil)
    try context.checkUsable()
    for context in [context, other] { context.end() }
  }

  @Test func aRecordEntersNoContextOfAnotherContainer() async throws {
    let (here, there) = (try await Museum.openWithoutClasses(), try await Museum.openWithoutClasses())
    let (context, other) = (try here.context(), try there.context())
    let room = try context.insert(entity: "Room")
    context.rollback()
    other.insert(room)
    let refused = #expect(throws: ContextError.self) { try other.save() }
    #expect(refused?.code == .unknownEntity)
    other.rollback()
    context.insert(room)
    try room.set("number", to: 3)
    try context.save()
    #expect(try context.fetch(DynamicQuery("Room")) == [room])
    for context in [context, other] { context.end() }
  }

  // MARK: Several contexts

  @Test func conflictsAndUniquenessAreFound() async throws {
    let museum = try await Museum.openWithoutClasses()
    let (context, other) = (try museum.context(), try museum.context())
    let vase = try exhibit(in: context)
    try vase.set("code", to: 1)
    try context.save()
    try other.refresh()
    let same = try other.existingObject(ManagedRecord.self, with: vase.objectID)
    try same.set("note", to: "theirs")
    try vase.set("note", to: "ours")
    try other.save()
    #expect(error { try context.save() }?.code == .conflict)
    context.rollback()
    try context.refresh()
    #expect(try vase["note"] == .string("theirs"))
    let copy = try exhibit(in: context)
    try copy.set("code", to: 1)
    let refused = error { try context.save() }
    #expect(refused?.code == .notUnique)
    #expect(refused?.context.otherID == vase.objectID)
    try copy.set("code", to: 2)
    try context.save()
    other.delete(same)
    try other.save()
    try context.refresh()
    #expect(vase.isDeleted)
    #expect(
      error { try context.existingObject(ManagedRecord.self, with: vase.objectID) }?.code == .objectNotFound
    )
    #expect(try await museum.verify().map(\.description) == [])
    for context in [context, other] { context.end() }
  }

  // MARK: Queries

  @Test func queriesSeeUnsavedChanges() async throws {
    try await withContext { context in
      var rooms: [ManagedRecord] = []
      for number in 0..<50 {
        rooms.append(try context.insert(entity: "Room"))
        try rooms[number].set("number", to: number)
      }
      try context.save()
      try rooms[3].set("number", to: 103)
      context.delete(rooms[4])
      let high = try PredicateTree(format: "number >= 45")
      let found = try context.fetch(
        DynamicQuery("Room", where: high, sort: [.init("number", ascending: false)])
      )
      #expect(try found.map { try $0.value("number", as: Int.self) } == [103, 49, 48, 47, 46, 45])
      let window = try context.fetch(
        DynamicQuery("Room", where: high, sort: [.init("number")], limit: 2, offset: 1)
      )
      #expect(window == [rooms[46], rooms[47]])
      var query = DynamicQuery("Room", where: high)
      #expect(try context.count(query) == 6)
      #expect(try context.count(DynamicQuery("Room")) == 49)
      #expect(try context.explain(query).description.contains("Room"))
      query.select = ["number"]
      expectMistake { try context.fetch(query) }
      expectMistake { try context.fetch(DynamicQuery("Room", where: PredicateTree(format: "x == 1"))) }
    }
  }

  @Test func batchesKeepTheRecordsOfOneInMemory() async throws {
    let museum = try await Museum.openWithoutClasses()
    let context = try museum.context()
    for number in 0..<5_000 { try context.insert(entity: "Room").set("number", to: number) }
    try context.save()
    context.reset()
    var sum = 0
    var mostKept = 0
    try context.forEach(DynamicQuery("Room"), inBatchesOf: 100) { room in
      let number = try #require(try room.value("number", as: Int.self))
      sum += number
      mostKept = max(mostKept, context.view.keptByteCount)
      if number % 1_000 == 0 {
        try room.set("number", to: -1)
        try context.save()
      }
    }
    #expect(sum == 5_000 * 4_999 / 2)
    #expect(mostKept > 0 && mostKept <= 100 * 64)
    #expect(try context.count(DynamicQuery("Room", where: PredicateTree(format: "number == -1"))) == 5)
    #expect(context.entities.map(\.known.count).max() ?? 0 < 2_100)
    var batches = 0
    for try await rooms in context.fetch(DynamicQuery("Room"), inBatchesOf: 500) {
      batches += rooms.isEmpty ? 0 : 1
    }
    #expect(batches == 10)
    context.end()
  }

  @Test func aQueryForObjectsOfTheRecordClassIsAMistake() async throws {
    try await withContext { context in
      let id = try context.insert(entity: "Room").objectID
      context.rollback()
      #expect(error { try context.fetch(From<ManagedRecord>()) }?.code == .unknownEntity)
      #expect(try context.object(ManagedRecord.self, with: id).objectID == id)
      #expect(throws: QueryError.self) { try [ManagedRecord]().filter(matching: Where(true)) }
      #expect(throws: SchemaError.self) { try Schema([ManagedRecord.self]) }
      let entityName = \ManagedRecord.entity.name
      #expect(throws: QueryError.self) { try ManagedRecord.predicatePath(of: entityName) }
    }
  }
}
