import Foundation
import Predicates

/// One commit in the history of a store: its date, its author, and the objects that it changed.
///
/// It has no values but those of tombstones: a program that wants values reads the objects.
public struct HistoryTransaction: Sendable, Hashable {
  /// The place in the history after the transaction.
  public let token: HistoryToken
  /// The date of the save, by the clock of the machine.
  public let date: Date
  /// ``ManagedObjectContext/author`` of the context that saved.
  public let author: String?
  /// ``ManagedObjectContext/name`` of the context that saved.
  public let contextName: String?
  /// The changes, at most one of each object: by entity, in the order of their names, and by the number of the object.
  /// Objects of entities that the store no longer has are left out.
  public internal(set) var changes: [HistoryChange]
}

/// The change of one object by one commit.
public struct HistoryChange: Sendable, Hashable {
  /// A kind of change.
  public enum Kind: String, Sendable, Codable {
    /// The object was inserted.
    case inserted
    /// The object got other values or links.
    case updated
    /// The object was deleted.
    case deleted
  }

  /// The object. After a deletion no other object will have this ID. The object itself may be inserted again with it,
  /// when a context undoes the deletion.
  public let objectID: ManagedObjectID
  /// The kind of the change.
  public let kind: Kind
  /// Of an updated object, the names of the attributes and relationships that changed, sorted. Properties that the
  /// schema no longer has are left out, and renamed ones have their present names. A to-many relationship is among them
  /// only if its inverse isn't a to-one relationship: otherwise the members are updated, not the owner.
  public internal(set) var properties: [String] = []
  /// Of a deleted object, the last values of the attributes that are declared with
  /// `@Attribute(.preserveValueOnDeletion)`, by name.
  public internal(set) var tombstone: [String: AttributeValue] = [:]
}
