import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// The same random operations on two stores, on one through classes and on the other through records: the stores are the same, byte for byte.
struct RecordOracleTests {
  @Test func recordsDoWhatObjectsOfClassesDo() async throws {
    let folder = try TemporaryFolder()
    let paths = ["a", "b"].map { folder.file("\($0).cambium") }
    var generator = SeededGenerator()
    var saveCount = 0
    for turn in 0..<4 {
      // In the next turn each store is opened the other way.
      let typed = try await Museum.open(at: paths[turn % 2], withClasses: true)
      let dynamic = try await Museum.open(at: paths[1 - turn % 2], withClasses: false)
      var run = try MuseumRun(typed, dynamic, generator)
      for _ in 0..<TestEffort.times(250) { try run.step() }
      try run.finish()
      generator = run.generator
      saveCount += run.saveCount
      try await typed.close()
      try await dynamic.close()
      #expect(try StoreDump(paths[0]) == StoreDump(paths[1]))
    }
    #expect(saveCount > 5)
  }
}

/// Operations on two contexts, of a museum with classes and of one without.
private struct MuseumRun {
  private let containers: [PersistentContainer]
  private let typed: ManagedObjectContext
  private let dynamic: ManagedObjectContext
  private(set) var generator: SeededGenerator
  private(set) var saveCount = 0

  init(_ typed: PersistentContainer, _ dynamic: PersistentContainer, _ generator: SeededGenerator) throws {
    containers = [typed, dynamic]
    self.typed = try typed.context()
    self.dynamic = try dynamic.context()
    self.generator = generator
  }

  mutating func step() throws {
    switch generator.number(in: 0...19) {
    case 0...4: try insert()
    case 5...9: try setAttribute()
    case 10...12: try setToOne()
    case 13...15: try changeMembers()
    case 16: try delete()
    case 17: try save()
    case 18: if generator.chance(1, in: 4) { rollback() }
    default: try compare()
    }
  }

  mutating func finish() throws {
    try save()
    rollback()
    try compare()
    typed.end()
    dynamic.end()
  }

  // MARK: Objects

  /// One object on both sides.
  private typealias Pair<Object: ManagedObject> = (object: Object, record: ManagedRecord)

  private mutating func pick<Object: ManagedObject>(_ type: Object.Type) throws -> Pair<Object>? {
    let objects = try typed.fetch(From<Object>())
    let records = try dynamic.fetch(DynamicQuery(type.entityName))
    #expect(objects.map(\.objectID.number) == records.map(\.objectID.number))
    if objects.isEmpty { return nil }
    let place = generator.number(in: 0...objects.count - 1)
    return (objects[place], records[place])
  }

  // MARK: Operations

  private mutating func insert() throws {
    switch generator.number(in: 0...7) {
    case 0: insert(Museum.Room())
    case 1: insert(Museum.Owner())
    case 2: insert(Museum.Plate())
    case 3: insert(Museum.Tag())
    default:
      guard let owner = try pick(Museum.Owner.self) else { return insert(Museum.Owner()) }
      typed.insert(Museum.Exhibit(owner: owner.object))
      let record = try dynamic.insert(entity: "Exhibit")
      // The initial values that the class gives an exhibit.
      for attribute in record.entity.attributes where !attribute.isOptional {
        try record.set(attribute.name, to: zero(attribute.kind))
      }
      try record.setObject("owner", to: owner.record)
    }
  }

  private func insert<Object: ManagedObject>(_ object: Object) {
    typed.insert(object)
    #expect(throws: Never.self) {
      try dynamic.insert(entity: Object.entityName).set("number", to: 0)
    }
  }

  private func zero(_ kind: AttributeKind) -> AttributeValue {
    switch kind {
    case .bool: .bool(false)
    case .float, .double: .double(0)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
    case .string: .string("")
    default: .int(0)
    }
  }

  private mutating func setAttribute() throws {
    guard let (object, record) = try pick(Museum.Exhibit.self) else { return }
    let attribute = generator.pick(record.entity.attributes)
    let isNil = attribute.isOptional && generator.chance(1, in: 3)
    let value = isNil ? .null : randomValue(attribute.kind)
    try record.set(attribute.name, to: value)
    try set(attribute.name, of: object, to: value)
    #expect(try record[attribute.name] == value)
  }

  private mutating func randomValue(_ kind: AttributeKind) -> AttributeValue {
    let small = generator.number(in: 0...20)
    switch kind {
    case .bool: return .bool(small < 10)
    case .int8: return .int(Int64(generator.number(in: -128...127)))
    case .int16: return .int(Int64(generator.number(in: -32_768...32_767)))
    case .int32, .int64: return .int(Int64(small - 10))
    case .uint64: return .unsigned(UInt64.max - UInt64(small) * (1 << 59))
    case .float: return .double(Double(small) / 4)
    case .double: return .double(generator.pick([-0.5, .infinity, .nan, Double(small)]))
    case .decimal: return .decimal(Decimal(small) / 8)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(small)))
    case .uuid:
      return .uuid(UUID(uuid: (UInt8(small), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
    case .string, .externalString:
      return .string(generator.pick(["", "Ä", "long enough for a heap", "\(small)"]))
    case .data, .externalData: return .data(Data([UInt8(small), 0]))
    case .coded: return .string("[\(small)]")
    default: return .int(Int64(small))
    }
  }

  private func set(_ name: String, of exhibit: Museum.Exhibit, to value: AttributeValue) throws {
    func given<Value: AttributeType>(_ type: Value.Type = Value.self) throws -> Value {
      try #require(Value(_attributeValue: value))
    }
    switch name {
    case "flag": exhibit.flag = try given()
    case "tiny": exhibit.tiny = try given()
    case "short": exhibit.short = try given()
    case "medium": exhibit.medium = try given()
    case "long": exhibit.long = try given()
    case "byte": exhibit.byte = try given()
    case "word": exhibit.word = try given()
    case "dozen": exhibit.dozen = try given()
    case "wide": exhibit.wide = try given()
    case "single": exhibit.single = try given()
    case "double": exhibit.double = try given()
    case "moment": exhibit.moment = try given()
    case "text": exhibit.text = try given()
    case "exact": exhibit.exact = try given()
    case "key": exhibit.key = try given()
    case "note": exhibit.note = try given()
    case "bytes": exhibit.bytes = try given()
    default: exhibit.code = try given()
    }
  }

  private mutating func setToOne() throws {
    guard let (exhibit, record) = try pick(Museum.Exhibit.self) else { return }
    let isNil = generator.chance(1, in: 4)
    switch generator.number(in: 0...5) {
    case 0:
      let room = isNil ? nil : try pick(Museum.Room.self)
      exhibit.room = room?.object
      try record.setObject("room", to: room?.record)
    case 1:
      guard let owner = try pick(Museum.Owner.self) else { return }
      exhibit.owner = owner.object
      try record.setObject("owner", to: owner.record)
    case 2:
      let plate = isNil ? nil : try pick(Museum.Plate.self)
      exhibit.plate = plate?.object
      try record.setObject("plate", to: plate?.record)
    case 3:
      guard let plate = try pick(Museum.Plate.self) else { return }
      plate.object.exhibit = isNil ? nil : exhibit
      try plate.record.setObject("exhibit", to: isNil ? nil : record)
    default:
      let rival = isNil ? nil : try pick(Museum.Exhibit.self)
      exhibit.rival = rival?.object
      try record.setObject("rival", to: rival?.record)
    }
  }

  private mutating func changeMembers() throws {
    guard let (exhibit, record) = try pick(Museum.Exhibit.self) else { return }
    let removes = generator.chance(1, in: 3)
    func change(_ name: String, of owner: ManagedRecord, _ member: ManagedRecord) throws {
      if removes { try owner.remove(member, from: name) } else { try owner.add(member, to: name) }
    }
    switch generator.number(in: 0...3) {
    case 0:
      guard let room = try pick(Museum.Room.self) else { return }
      if removes { room.object.exhibits.remove(exhibit) } else { room.object.exhibits.append(exhibit) }
      try change("exhibits", of: room.record, record)
    case 1:
      guard let tag = try pick(Museum.Tag.self) else { return }
      Self.change(&exhibit.tags, tag.object, removes)
      try change("tags", of: record, tag.record)
    case 2:
      guard let tag = try pick(Museum.Tag.self) else { return }
      Self.change(&tag.object.exhibits, exhibit, removes)
      try change("exhibits", of: tag.record, record)
    default:
      guard let other = try pick(Museum.Exhibit.self) else { return }
      Self.change(&exhibit.neighbours, other.object, removes)
      try change("neighbours", of: record, other.record)
    }
  }

  private static func change<Member: ManagedObject>(
    _ members: inout [Member],
    _ member: Member,
    _ removes: Bool
  ) {
    if removes {
      members.removeAll { $0 === member }
    } else if !members.contains(member) {
      members.append(member)
    }
  }

  private mutating func delete() throws {
    switch generator.number(in: 0...9) {
    case 0: try delete(Museum.Room.self)
    case 1: try delete(Museum.Owner.self)
    case 2...3: try delete(Museum.Plate.self)
    case 4...5: try delete(Museum.Tag.self)
    default: try delete(Museum.Exhibit.self)
    }
  }

  private mutating func delete<Object: ManagedObject>(_ type: Object.Type) throws {
    guard let (object, record) = try pick(type) else { return }
    typed.delete(object)
    dynamic.delete(record)
  }

  private mutating func save() throws {
    let failures = [failure(ofSaving: typed), failure(ofSaving: dynamic)]
    #expect(failures[0]?.code == failures[1]?.code)
    #expect(failures[0]?.context.properties == failures[1]?.context.properties)
    #expect(failures[0]?.context.objectID?.number == failures[1]?.context.objectID?.number)
    if failures[0] == nil { saveCount += 1 } else { rollback() }
    for container in containers { #expect(try container.verify().map(\.description) == []) }
  }

  private func failure(ofSaving context: ManagedObjectContext) -> ContextError? {
    do throws(ContextError) { try context.save() } catch { return error }
    return nil
  }

  private func rollback() {
    typed.rollback()
    dynamic.rollback()
  }

  // MARK: Comparison

  private func compare() throws {
    let exhibits = try typed.fetch(From<Museum.Exhibit>())
    let records = try dynamic.fetch(DynamicQuery("Exhibit"))
    #expect(exhibits.map(\.objectID.number) == records.map(\.objectID.number))
    for (exhibit, record) in zip(exhibits, records) { try compare(exhibit, record) }
    let rooms = try typed.fetch(From<Museum.Room>())
    for (room, record) in zip(rooms, try dynamic.fetch(DynamicQuery("Room"))) {
      let members = try record.objects("exhibits")
      #expect(room.exhibits.map(\.objectID.number) == members.map(\.objectID.number))
      #expect(try record.count(of: "exhibits") == room.exhibits.count)
    }
    let condition = try Where<Museum.Exhibit>(format: "text ==[c] 'ä' OR long > 3 AND ANY tags.number == 0")
    let found = try typed.fetch(
      From<Museum.Exhibit>().where(condition).orderBy(\Museum.Exhibit.long, \Museum.Exhibit.text)
    )
    let same = try dynamic.fetch(
      DynamicQuery(
        "Exhibit",
        where: condition.tree,
        sort: [.init("long"), .init("text")]
      )
    )
    #expect(found.map(\.objectID.number) == same.map(\.objectID.number))
  }

  private func compare(_ exhibit: Museum.Exhibit, _ record: ManagedRecord) throws {
    for (slot, property) in record.entity.storedProperties.enumerated() {
      let expected = exhibit.attributeValue(at: slot)
      if property.isRelationship {
        let target = try record.object(property.name).map { AttributeValue.reference($0.objectID.number) }
        #expect(target ?? .null == expected)
      } else {
        #expect(try record[property.name] == expected)
      }
    }
    let tags = try record.objects("tags").map(\.objectID.number)
    #expect(Set(tags) == Set(exhibit.tags.map(\.objectID.number)))
    let neighbours = try record.objects("neighbours").map(\.objectID.number)
    #expect(Set(neighbours) == Set(exhibit.neighbours.map(\.objectID.number)))
  }
}
