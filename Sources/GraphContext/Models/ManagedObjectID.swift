import Foundation
import Predicates

/// An object's name: final from its insertion on, valid in every context of its store, in every process, for ever.
///
/// IDs are `Sendable`, so they are how an object is handed to another task: `context.object(with: id)` finds it there.
public struct ManagedObjectID: Sendable, Hashable {
  public let entityName: String
  /// Unique among the entity's objects; never used twice. ``ObjectNumber/none`` names no object.
  public let number: ObjectNumber
  /// The store that gave the ID.
  public let storeID: UUID

  /// Of objects that stand for what an object in no store leads to.
  static let noStore = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  package init(entityName: String, number: ObjectNumber, storeID: UUID) {
    self.entityName = entityName
    self.number = number
    self.storeID = storeID
  }
}

extension ManagedObjectID: CustomStringConvertible {
  private static let scheme = "cambium"

  /// `cambium://<store>/<entity>/<number>`, the store's UUID in lower case.
  public var uriRepresentation: String {
    "\(Self.scheme)://\(storeID.uuidString.lowercased())/\(entityName)/\(number)"
  }

  /// Nil when the text is not exactly what ``uriRepresentation`` gives for some ID.
  public init?(uriRepresentation uri: String) {
    let prefix = Self.scheme + "://"
    guard uri.hasPrefix(prefix) else { return nil }
    let parts = uri.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UUID(uuidString: String(parts[0])), !parts[1].isEmpty,
      let number = UInt64(parts[2]).map(ObjectNumber.init), !number.isNone
    else { return nil }
    self.init(entityName: String(parts[1]), number: number, storeID: store)
    guard uriRepresentation == uri else { return nil }
  }

  public var description: String { uriRepresentation }
}

extension ManagedObjectID: Codable {
  /// From the URI.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ManagedObjectID(uriRepresentation: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the URI of an object ID")
    }
    self = id
  }

  /// As the URI.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(uriRepresentation)
  }
}

extension ManagedObjectID: ColumnType {
  public init?(columnValue: AttributeValue, of column: ColumnOrigin) {
    guard case .reference(let number) = columnValue, let entityName = column.entityName else { return nil }
    self.init(entityName: entityName, number: number, storeID: column.storeID)
  }

  public init?(record: borrowing RecordView, slot: Int, of column: ColumnOrigin) {
    self.init(columnValue: record.value(slot), of: column)
  }
}

extension ManagedObjectID: ObjectReferencing {
  public var objectReference: ObjectReference? {
    number.isNone ? nil : ObjectReference(entity: entityName, number: number, store: storeID)
  }
}
