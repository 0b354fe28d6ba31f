import Predicates

/// An index of a class that derives from ``StoredObject``: an element of ``StoredObject/indexes``.
///
/// ```swift
/// override class var indexes: [StoredIndex] {
///   [.index(\Song.album, \Song.track), .unique(\Song.isrc)]
/// }
/// ```
public struct StoredIndex {
  let keyPaths: [AnyKeyPath]
  let isUnique: Bool
  let folding: IndexFolding
  let ifExists: UniquePolicy

  /// Makes an index over one or more attributes and to-one relationships.
  ///
  /// - Parameters:
  ///   - properties: key paths of properties that the class declares.
  ///   - folding: the folding of the strings in them.
  public static func index<Root: StoredObject>(
    _ properties: PartialKeyPath<Root>...,
    folding: IndexFolding = []
  ) -> StoredIndex {
    StoredIndex(keyPaths: properties, isUnique: false, folding: folding, ifExists: .error)
  }

  /// Makes an index whose values no two objects share. An object with nil in one of them is exempt.
  ///
  /// - Parameters:
  ///   - properties: key paths of properties that the class declares.
  ///   - folding: strings that fold to the same are equal here.
  ///   - ifExists: what a save does with a new object if an existing object has the same values.
  public static func unique<Root: StoredObject>(
    _ properties: PartialKeyPath<Root>...,
    folding: IndexFolding = [],
    ifExists: UniquePolicy = .error
  ) -> StoredIndex {
    StoredIndex(keyPaths: properties, isUnique: true, folding: folding, ifExists: ifExists)
  }
}
