import CObjectBox

/// The persons and their cities as ObjectBox's model describes them. Entities, properties and indexes have a number,
/// which is part of the interface, and a permanent identifier, for which any distinct numbers will do.
enum ObjectBoxModel {
  enum City {
    static let entity: UInt32 = 1
    static let id: UInt32 = 1
    static let name: UInt32 = 2

    static let layout: [FlatTableWriter.Field] = [.word, .text]
  }

  enum Person {
    static let entity: UInt32 = 2
    static let id: UInt32 = 1
    static let email: UInt32 = 2
    static let name: UInt32 = 3
    static let age: UInt32 = 4
    static let score: UInt32 = 5
    static let created: UInt32 = 6
    static let bio: UInt32 = 7
    static let city: UInt32 = 8

    static let layout: [FlatTableWriter.Field] = [.word, .text, .text, .word, .word, .word, .text, .word]
  }

  /// ObjectBox's numbers of types.
  private enum PropertyType: Int32 {
    case long = 6
    case double = 8
    case string = 9
    case date = 10
    case relation = 11
  }

  /// ObjectBox's flags of properties.
  private struct Flags: OptionSet {
    var rawValue: UInt32
    static let id = Flags(rawValue: 1)
    static let indexed = Flags(rawValue: 8)
    static let unique = Flags(rawValue: 32)
    static let skipsZero = Flags(rawValue: 512)
    static let hashed = Flags(rawValue: 2048)
  }

  /// Makes the model, with the indexes that ObjectBox's own generators make: for a unique text an index of hashes, for
  /// a relationship an index without the objects that have none. Errors stay in the model, until it is used.
  static func make(_ obx: cobx_functions) -> OpaquePointer? {
    let model = obx.model()
    func entity(_ name: String, _ id: UInt32) { _ = obx.model_entity(model, name, id, uid(of: id)) }
    func property(_ name: String, _ type: PropertyType, _ id: UInt32, of entity: UInt32, _ flags: Flags = [])
    {
      _ = obx.model_property(model, name, type.rawValue, id, uid(of: entity, id))
      _ = obx.model_property_flags(model, flags.rawValue)
    }

    entity("City", City.entity)
    property("id", .long, City.id, of: City.entity, .id)
    property("name", .string, City.name, of: City.entity)
    _ = obx.model_entity_last_property_id(model, City.name, uid(of: City.entity, City.name))

    entity("Person", Person.entity)
    property("id", .long, Person.id, of: Person.entity, .id)
    property("email", .string, Person.email, of: Person.entity, [.indexed, .unique, .hashed])
    _ = obx.model_property_index_id(model, 1, uid(ofIndex: 1))
    property("name", .string, Person.name, of: Person.entity)
    property("age", .long, Person.age, of: Person.entity, .indexed)
    _ = obx.model_property_index_id(model, 2, uid(ofIndex: 2))
    property("score", .double, Person.score, of: Person.entity)
    property("created", .date, Person.created, of: Person.entity)
    property("bio", .string, Person.bio, of: Person.entity)
    property("city", .relation, Person.city, of: Person.entity, [.indexed, .skipsZero])
    _ = obx.model_property_relation(model, "City", 3, uid(ofIndex: 3))
    _ = obx.model_entity_last_property_id(model, Person.city, uid(of: Person.entity, Person.city))

    obx.model_last_entity_id(model, Person.entity, uid(of: Person.entity))
    obx.model_last_index_id(model, 3, uid(ofIndex: 3))
    return model
  }

  private static func uid(of entity: UInt32, _ property: UInt32 = 0) -> UInt64 {
    UInt64(entity * 100 + property)
  }

  private static func uid(ofIndex index: UInt32) -> UInt64 { UInt64(10_000 + index) }
}
