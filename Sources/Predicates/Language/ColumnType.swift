import Foundation

/// A type that a column of a query's rows can have: the type of an attribute, or an object's ID.
public protocol ColumnType: Sendable {
  /// Makes the value of a stored one. Nil when that is not one of this type.
  init?(_columnValue stored: AttributeValue, of column: ColumnOrigin)
  /// Reads the value at a slot of a record. Nil when it is missing, or not one of this type.
  init?(_record record: borrowing RecordView, slot: Int, of column: ColumnOrigin)
}

/// Information about a column that its values don't contain: the entity of its references.
public struct ColumnOrigin: Sendable, Hashable {
  /// The name of the entity whose objects the column refers to; nil for values.
  public let entityName: String?
  /// The ID of the store that the row comes from.
  public let storeID: UUID
  /// The store's identity of that entity; nil also where the schema belongs to no store.
  package let entityIdentity: EntityIdentity?
  /// The identities of the classes of a hierarchy, by class tag; empty for an entity without a hierarchy.
  package let classIdentities: [UInt16: EntityIdentity]

  package init(
    entityName: String?,
    identity: EntityIdentity?,
    classIdentities: [UInt16: EntityIdentity] = [:],
    storeID: UUID
  ) {
    self.entityName = entityName
    self.entityIdentity = identity
    self.classIdentities = classIdentities
    self.storeID = storeID
  }
}

extension AttributeType {
  @inlinable
  public init?(_columnValue stored: AttributeValue, of column: ColumnOrigin) {
    self.init(_attributeValue: stored)
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int, of column: ColumnOrigin) {
    self.init(_record: record, slot: slot)
  }
}

extension Optional: ColumnType where Wrapped: ColumnType {
  public init?(_columnValue stored: AttributeValue, of column: ColumnOrigin) {
    if stored.isNull {
      self = .none
      return
    }
    guard let wrapped = Wrapped(_columnValue: stored, of: column) else { return nil }
    self = .some(wrapped)
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int, of column: ColumnOrigin) {
    if record.isNull(slot) {
      self = .none
      return
    }
    guard let wrapped = Wrapped(_record: record, slot: slot, of: column) else { return nil }
    self = .some(wrapped)
  }
}
