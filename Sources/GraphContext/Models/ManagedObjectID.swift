import Foundation
import Predicates

/// An object's name: final from its insertion on, valid in every context of its store, in every process, for ever.
/// Before its insertion an object has a provisional ID (``isProvisional``), which tells it from other objects of the
/// process, and no more.
///
/// IDs are `Sendable`, so they are how an object is handed to another task: `context.object(with: id)` finds it there.
///
/// An ID names the store, the entity and the object by values that are never used again: the store's UUID and the
/// numbers that the store gave. So it finds its object after the entity was renamed, and never one of another entity
/// that has the name now. The entity's name in an ID is the one that it had when the ID was made. It is for people to
/// read, and takes no part in the equality of IDs.
public struct ManagedObjectID: Sendable, Hashable {
  /// The UUID of the store that gave the ID; for a provisional ID, a UUID of no store.
  public let storeID: UUID
  /// The object's number, unique among the entity's objects; never used twice. ``/Predicates/ObjectNumber/none`` names
  /// no object.
  public let number: ObjectNumber
  let entity: EntityLabel

  /// The store ID of objects in no store, and of objects that stand for the missing target of such an object.
  static let noStore = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  init(entity: EntityLabel, number: ObjectNumber, storeID: UUID) {
    self.storeID = storeID
    self.number = number
    self.entity = entity
  }

  /// The name that the entity had when the ID was made.
  public var entityName: String { entity.name }

  /// True if the ID was taken from an object in no context: never inserted, or its insertion was rolled back.
  ///
  /// A provisional ID is equal to no other object's ID in this process. It finds no object: contexts throw
  /// `provisionalID`, a condition with it is an `invalidQuery`, and it can't be encoded. The object gets another ID
  /// when it is inserted.
  public var isProvisional: Bool { storeID == Self.noStore && !number.isNone }
}

extension ManagedObjectID: CustomStringConvertible {
  private static let scheme = "cambium"

  /// The ID as a text:
  ///
  /// ```
  /// uri    = "cambium://" store "/" entity "/" object
  /// store  = the store's UUID, in lower case
  /// entity = name "." number | name
  /// object = the object's number in decimal, without a sign or leading zeros
  /// ```
  ///
  /// `cambium://01020304-0506-0708-090a-0b0c0d0e0f10/Song.7/42` is the object 42 of the entity 7, which was called
  /// `Song` then. The number decides: the same URI with another name is an equal ID.
  ///
  /// The form without the entity's number is that of earlier versions of the library. It is read all the same, and
  /// names the entity that has the name when the ID is used. Such an ID isn't equal to one with a number, not even to
  /// that of the object which it finds.
  ///
  /// A provisional ID has `provisional` for the store. No ID is made from such a text.
  public var uriRepresentation: String {
    "\(Self.scheme)://\(isProvisional ? "provisional" : storeID.uuidString.lowercased())/\(entity)/\(number)"
  }

  /// Makes an ID from a text; nil when the text is not exactly what ``uriRepresentation`` gives for some ID. The store,
  /// the entity and the object are looked for when the ID is used.
  public init?(uriRepresentation uri: String) {
    let prefix = Self.scheme + "://"
    guard uri.hasPrefix(prefix) else { return nil }
    let parts = uri.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UUID(uuidString: String(parts[0])),
      let entity = EntityLabel(parts[1]),
      let number = UInt64(parts[2]).map(ObjectNumber.init), !number.isNone
    else { return nil }
    self.init(entity: entity, number: number, storeID: store)
    guard uriRepresentation == uri else { return nil }
  }

  /// The text of ``uriRepresentation``.
  public var description: String { uriRepresentation }
}

extension ManagedObjectID: Codable {
  /// Decodes the ID from the URI.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ManagedObjectID(uriRepresentation: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the URI of an object ID")
    }
    self = id
  }

  /// Encodes the ID as the URI.
  ///
  /// - Throws: `EncodingError.invalidValue` for a provisional ID.
  public func encode(to encoder: any Encoder) throws {
    if isProvisional {
      let text = "\(self) is provisional: encode the ID that the object has after its insertion"
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: text))
    }
    var container = encoder.singleValueContainer()
    try container.encode(uriRepresentation)
  }
}

extension ManagedObjectID: ColumnType {
  /// Makes the ID of the object that a column of references leads to.
  public init?(_columnValue stored: AttributeValue, of column: ColumnOrigin) {
    guard case .reference(let number) = stored, let entity = column.label(of: number) else { return nil }
    self.init(entity: entity, number: number, storeID: column.storeID)
  }

  /// Reads the ID of the object that a reference in a record leads to.
  public init?(_record record: borrowing RecordView, slot: Int, of column: ColumnOrigin) {
    self.init(_columnValue: record.value(slot), of: column)
  }
}

extension ManagedObjectID: ObjectReferencing {
  /// The identity that the ID stands for in predicates; nil for a provisional ID, and one with the number `none`.
  public var objectReference: ObjectReference? {
    if number.isNone || isProvisional { return nil }
    return ObjectReference(entity: entity, number: number, store: storeID)
  }
}

extension StoredEntity {
  /// Returns the ID of the entity's object of this number in a store. O(1).
  func objectID(_ number: ObjectNumber, in storeID: UUID) -> ManagedObjectID {
    ManagedObjectID(entity: label(of: number), number: number, storeID: storeID)
  }
}

extension ColumnOrigin {
  fileprivate func label(of number: ObjectNumber) -> EntityLabel? {
    let identity =
      classIdentities.isEmpty ? entityIdentity : classIdentities[number.classTag] ?? entityIdentity
    return identity.map { .known($0) } ?? entityName.map { .read(nil, name: $0) }
  }
}

extension ObjectReference {
  init(entity: EntityLabel, number: ObjectNumber, store: UUID?) {
    self.init(entity: entity.name, number: number, store: store)
    entityNumber = entity.number?.rawValue
  }
}
