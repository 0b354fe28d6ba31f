/// The location of a page of a tree, and the checksum, birth and count of entries that the page must have.
/// Branches hold such references to their children, and the catalogue to the roots. 32 bytes, with the same
/// layout on disk and in memory.
///
/// | bytes | field |
/// |---|---|
/// | 0–7 | location: low 48 bits the page number (or, in memory only, a frame), high 16 bits the tag |
/// | 8–15 | checksum of the page |
/// | 16–23 | low 48 bits the commit that made the page; high 16 bits reserved for a codec, 0 |
/// | 24–31 | low 48 bits the count of entries below; high 16 bits reserved for a stored length, 0 |
struct ChildReference: Hashable, Sendable {
  var location: PageLocation
  var checksum: UInt64
  var birth: UInt64
  var count: UInt64

  static let byteCount = 32
}

/// The location of a page: in the file, or a frame in memory that no checkpoint has written yet.
///
/// In memory the top bit distinguishes the two. A page of the file never refers to a frame: the checkpoint
/// stores the page number instead. A page of the file that claims a frame is corrupt.
struct PageLocation: Hashable, Sendable {
  var rawValue: UInt64

  static let frameTag: UInt64 = 1 << 63
  static let numberMask: UInt64 = (1 << 48) - 1

  /// The empty tree's root.
  static let none = PageLocation(rawValue: 0)

  static func page(_ number: UInt64) -> PageLocation { PageLocation(rawValue: number) }
  static func frame(_ index: UInt64) -> PageLocation { PageLocation(rawValue: index | frameTag) }

  var isNone: Bool { rawValue == 0 }
  var isFrame: Bool { rawValue & Self.frameTag != 0 }
  /// The page number or frame index.
  var number: UInt64 { rawValue & Self.numberMask }
}

/// A version of one tree, with everything that is needed to read it.
struct TreeRoot: Hashable, Sendable {
  /// The number of the tree, which all its pages repeat; never reused in a store.
  var treeID: UInt32
  /// Levels of pages: 0 for an empty tree, 1 for a lone leaf.
  var height: UInt8
  var reference: ChildReference
  /// True once an entry has overflowed. If false, dropping the tree reads no leaves.
  var hasOverflow = false

  /// Entries in the tree.
  var count: UInt64 { reference.count }
}
