import Cambium
import Foundation

@testable import GraphContext

/// A museum: an attribute of every kind, and a relationship of every kind with every delete rule.
enum Museum {
  @Model final class Exhibit {
    #Index<Exhibit>([\.long], [\.text, \.short])
    #Index<Exhibit>([\.text], folding: [.case, .diacritics])
    #Unique<Exhibit>([\.code])
    var flag: Bool = false
    var tiny: Int8 = 0
    var short: Int16 = 0
    var medium: Int32 = 0
    var long: Int64 = 0
    var byte: UInt8 = 0
    var word: UInt16 = 0
    var dozen: UInt32 = 0
    var wide: UInt64 = 0
    var single: Float = 0
    var double: Double = 0
    var moment: Date = Date(timeIntervalSinceReferenceDate: 0)
    var text: String = ""
    var exact: Decimal?
    var key: UUID?
    var note: String?
    var bytes: Data?
    var code: Int?
    @Relationship(inverse: \Room.exhibits) var room: Room?
    @Relationship(inverse: \Owner.exhibits) var owner: Owner
    @Relationship(deleteRule: .cascade, inverse: \Plate.exhibit) var plate: Plate?
    @Relationship(inverse: \Tag.exhibits) var tags: [Tag] = []
    @Relationship(inverse: .itself) var neighbours: [Exhibit] = []
    @Relationship var rival: Exhibit?

    init(owner: Owner) { self.owner = owner }
  }

  @Model final class Room {
    var number: Int = 0
    @Relationship(deleteRule: .cascade) var exhibits: ToMany<Exhibit> = []

    init() {}
  }

  @Model final class Owner {
    var number: Int = 0
    @Relationship(deleteRule: .deny) var exhibits: [Exhibit] = []

    init() {}
  }

  @Model final class Plate {
    var number: Int = 0
    @Relationship var exhibit: Exhibit?

    init() {}
  }

  @Model final class Tag {
    var number: Int = 0
    @Relationship var exhibits: [Exhibit] = []

    init() {}
  }

  static let models: [any ManagedObject.Type] = [
    Exhibit.self, Room.self, Owner.self, Plate.self, Tag.self,
  ]

  static func schema() throws -> Schema { try Schema(models) }

  /// A museum in memory whose objects are records.
  static func openWithoutClasses() async throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = .none
    return try await PersistentContainer("Museum", schema: schema(), at: .inMemory, options: options)
  }

  /// A museum in a file, with classes or without.
  static func open(at path: String, withClasses: Bool) async throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = .relaxed
    let url = URL(fileURLWithPath: path)
    if withClasses {
      return try await PersistentContainer("Museum", models: models, at: .file(url), options: options)
    }
    return try await PersistentContainer("Museum", schema: schema(), at: url, options: options)
  }
}
