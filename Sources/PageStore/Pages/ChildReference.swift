/// Where a page of a tree is, and what must be found there: the unit by which parents hold children, and the
/// catalogue holds roots. 32 bytes in a page image, the same on disk and in memory.
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

/// A page on disk, or one that exists in memory only because no checkpoint has written it yet.
///
/// In memory the top bit tells the two apart. An image that goes to disk never holds a frame: the checkpoint
/// puts the page number in. An image from disk that claims one is corrupt.
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

/// A version of one tree: all that is needed to read it.
struct TreeRoot: Hashable, Sendable {
  /// The number that every page of the tree repeats; never reused in a store.
  var treeID: UInt32
  /// Levels of pages: 0 for an empty tree, 1 for a lone leaf.
  var height: UInt8
  var reference: ChildReference
  /// True once any entry has overflowed. If false, dropping the tree reads no leaves.
  var hasOverflow = false

  /// Entries in the tree.
  var count: UInt64 { reference.count }
}
