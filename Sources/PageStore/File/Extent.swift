/// A run of the file that was allocated as one, on page boundaries. A header at its start says what it holds.
struct Extent: Hashable, Sendable {
  /// Bytes from the start of the file.
  var offset: UInt64
  var byteCount: UInt64

  var end: UInt64 { offset + byteCount }
  var range: Range<UInt64> { offset..<end }

  /// Returns the largest size of a store's file: the pool's table has room for these pages and for spilled
  /// ones.
  static func addressLimit(pageSize: UInt64) -> UInt64 { SpillFile.firstNumber * pageSize }

  /// Returns whether offset and length are possible. Every extent that is read from a file is checked.
  func isPlausible(pageSize: UInt64) -> Bool {
    offset % pageSize == 0 && byteCount % pageSize == 0 && byteCount >= pageSize
      && offset >= FileLayout.firstExtentOffset(pageSize: pageSize)
      && offset < Self.addressLimit(pageSize: pageSize) && byteCount < Self.addressLimit(pageSize: pageSize)
  }
}

/// The static header of an extent, in two copies. If they differ, the one with the higher revision counts.
/// Docs/FileFormat.md, section 3.
struct ExtentHeader: Hashable {
  enum Kind: CaseIterable {
    case pages
    case log

    var blockKind: FormatIdentity.BlockKind {
      switch self {
      case .pages: .pageExtent
      case .log: .logExtent
      }
    }
  }

  var kind: Kind
  var extent: Extent
  /// Random, fresh for every extent; reserved for ciphers.
  var salt: UInt64
  /// The commit that the extent was allocated for.
  var commit: UInt64
  /// Number of times the header was rewritten; the copy with the higher number counts.
  var revision: UInt64 = 0

  /// A number of revisions that no store reaches. A header that claims more is forged; no later header could
  /// have a higher number.
  static let revisionLimit: UInt64 = 1 << 62

  /// The offset of the second copy, which lies in another sector, and in another half of the block.
  static let copyOffset = 2_048
  /// Bytes that the headers take at the start of an extent. In a page extent they have a page to themselves.
  static let byteCount = 4_096

  enum Offset {
    static let extentOffset = 64
    static let extentByteCount = 72
    static let salt = 80
    static let commit = 88
    static let revision = 96
  }

  func encoded(_ identity: FormatIdentity) -> [UInt8] {
    identity.block(kind.blockKind) { bytes in
      bytes.setInteger(extent.offset, at: Offset.extentOffset)
      bytes.setInteger(extent.byteCount, at: Offset.extentByteCount)
      bytes.setInteger(salt, at: Offset.salt)
      bytes.setInteger(commit, at: Offset.commit)
      bytes.setInteger(revision, at: Offset.revision)
    }
  }

  /// Returns the block with both copies of the header.
  func encodedBlock(_ identity: FormatIdentity) -> [UInt8] {
    let sector = encoded(identity)
    let gap = [UInt8](repeating: 0, count: Self.copyOffset - sector.count)
    return sector + gap + sector + gap
  }

  /// Reads the header at the start of `bytes`, from either copy; nil if there is none of this store and this
  /// offset.
  init?(block bytes: UnsafeRawBufferPointer, at offset: UInt64, of identity: FormatIdentity) {
    let copies = Self.copies(in: bytes, at: offset, of: identity).compactMap(\.self)
    // If two copies have the same revision, either one may be used.
    guard let newest = copies.max(by: { $0.revision < $1.revision }) else { return nil }
    self = newest
  }

  /// Returns the two copies of the header at the start of `bytes`; nil for a copy that isn't legible.
  static func copies(
    in bytes: UnsafeRawBufferPointer,
    at offset: UInt64,
    of identity: FormatIdentity
  ) -> [Self?] {
    [0, copyOffset].map { copy in
      guard bytes.count >= copy + FormatIdentity.blockByteCount else { return nil }
      let sector = UnsafeRawBufferPointer(rebasing: bytes[copy..<copy + FormatIdentity.blockByteCount])
      guard let header = Self(sector: sector, of: identity), header.extent.offset == offset else {
        return nil
      }
      return header
    }
  }

  private init?(sector bytes: UnsafeRawBufferPointer, of identity: FormatIdentity) {
    guard
      let kind = Kind.allCases.first(where: { FormatIdentity(block: bytes, kind: $0.blockKind) == identity })
    else { return nil }
    self.kind = kind
    extent = Extent(
      offset: bytes.integer(at: Offset.extentOffset, as: UInt64.self),
      byteCount: bytes.integer(at: Offset.extentByteCount, as: UInt64.self)
    )
    salt = bytes.integer(at: Offset.salt, as: UInt64.self)
    commit = bytes.integer(at: Offset.commit, as: UInt64.self)
    revision = bytes.integer(at: Offset.revision, as: UInt64.self)
    guard extent.isPlausible(pageSize: UInt64(identity.pageSize)), revision < Self.revisionLimit else {
      return nil
    }
  }

  init(kind: Kind, extent: Extent, salt: UInt64, commit: UInt64, revision: UInt64 = 0) {
    self.revision = revision
    self.kind = kind
    self.extent = extent
    self.salt = salt
    self.commit = commit
  }
}
