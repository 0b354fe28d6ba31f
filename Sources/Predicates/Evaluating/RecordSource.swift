import Foundation

/// A source that finds the objects and records that a row's relationships lead to.
package protocol RecordSource: AnyObject {
  /// Returns the bytes of an object's record; nil when there is no such object. The bytes stay valid until
  /// ``releaseRecords()``.
  ///
  /// - Parameter place: the index of the record's place in ``RowPaths/places``; it determines the entity.
  func record(_ number: ObjectNumber, at place: Int) throws -> UnsafeRawBufferPointer?

  /// Returns the numbers of the objects that a to-many relationship of an object leads to, ascending.
  ///
  /// - Parameter relationship: the index in ``RowPaths/relationships``.
  func elements(of owner: ObjectNumber, in relationship: Int) throws -> [ObjectNumber]

  /// Returns the number of these objects.
  func elementCount(of owner: ObjectNumber, in relationship: Int) throws -> Int

  /// Returns the bytes of a value that lies outside of the record at a place of ``RowPaths/places``.
  func externalValue(_ reference: ExternalReference, at slot: Int, of place: Int) throws -> Data

  /// Tells the source that the returned bytes are not used any more.
  func releaseRecords()
}

/// A record whose bytes don't follow its entity's layout.
package struct DamagedRecord: Error, Hashable {
  package var entity: String
  /// The object that the record is of, or that leads to the record.
  package var number: ObjectNumber
}
