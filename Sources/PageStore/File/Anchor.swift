/// The position of the newest checkpoint. Two slots are rewritten in turn, one at each checkpoint. If both
/// are lost, a walk over the extents finds the checkpoint. Docs/FileFormat.md, section 2.
struct Anchor: Hashable {
  var checkpoint: LogPosition
  var recordByteCount: UInt32
  var recordChecksum: UInt64
  var commit: UInt64
  /// The *closing mark*: the store was closed after this checkpoint, whose record is the last of the log. It
  /// is removed before anything is appended.
  var isClosed = false

  enum Offset {
    static let sequence = 64
    static let commit = 72
    static let extentOffset = 80
    static let extentByteCount = 88
    static let epoch = 96
    static let recordByteCount = 100
    static let salt = 104
    static let recordOffset = 112
    static let recordChecksum = 120
    static let closed = 128
  }

  func encoded(_ identity: FormatIdentity) -> [UInt8] {
    identity.block(.anchor) { bytes in
      bytes.setInteger(checkpoint.sequence, at: Offset.sequence)
      bytes.setInteger(commit, at: Offset.commit)
      bytes.setInteger(checkpoint.use.extent.offset, at: Offset.extentOffset)
      bytes.setInteger(checkpoint.use.extent.byteCount, at: Offset.extentByteCount)
      bytes.setInteger(checkpoint.use.epoch, at: Offset.epoch)
      bytes.setInteger(recordByteCount, at: Offset.recordByteCount)
      bytes.setInteger(checkpoint.use.salt, at: Offset.salt)
      bytes.setInteger(checkpoint.offset, at: Offset.recordOffset)
      bytes.setInteger(recordChecksum, at: Offset.recordChecksum)
      bytes.setInteger(UInt32(isClosed ? 1 : 0), at: Offset.closed)
    }
  }

  /// Reads the anchor in a sector; nil if the sector isn't an anchor of the store with this identity, or is
  /// damaged.
  init?(block bytes: UnsafeRawBufferPointer, of identity: FormatIdentity) {
    guard FormatIdentity(block: bytes, kind: .anchor) == identity else { return nil }
    let extent = Extent(
      offset: bytes.integer(at: Offset.extentOffset, as: UInt64.self),
      byteCount: bytes.integer(at: Offset.extentByteCount, as: UInt64.self)
    )
    checkpoint = LogPosition(
      use: LogExtentUse(
        extent: extent,
        epoch: bytes.integer(at: Offset.epoch, as: UInt32.self),
        salt: bytes.integer(at: Offset.salt, as: UInt64.self)
      ),
      offset: bytes.integer(at: Offset.recordOffset, as: UInt64.self),
      sequence: bytes.integer(at: Offset.sequence, as: UInt64.self)
    )
    recordByteCount = bytes.integer(at: Offset.recordByteCount, as: UInt32.self)
    recordChecksum = bytes.integer(at: Offset.recordChecksum, as: UInt64.self)
    commit = bytes.integer(at: Offset.commit, as: UInt64.self)
    isClosed = bytes.integer(at: Offset.closed, as: UInt32.self) == 1
    guard extent.isPlausible(pageSize: UInt64(identity.pageSize)) else { return nil }
  }

  init(
    checkpoint: LogPosition,
    recordByteCount: UInt32,
    recordChecksum: UInt64,
    commit: UInt64,
    isClosed: Bool = false
  ) {
    self.checkpoint = checkpoint
    self.recordByteCount = recordByteCount
    self.recordChecksum = recordChecksum
    self.commit = commit
    self.isClosed = isClosed
  }
}

/// The anchors of a file that are legible: two at most, newest first. It is no array, because the type of the
/// array would be made at run time when a store is opened.
struct LegibleAnchors: RandomAccessCollection {
  private(set) var newest: Anchor?
  private(set) var older: Anchor?

  var startIndex: Int { 0 }
  var endIndex: Int { newest == nil ? 0 : older == nil ? 1 : 2 }

  subscript(position: Int) -> Anchor {
    guard let anchor = position == 0 ? newest : older else { fatalError("there is no such anchor") }
    return anchor
  }

  /// Adds an anchor. If there are two already, the older one is dropped.
  mutating func add(_ anchor: Anchor, isNewest: Bool = true) {
    if isNewest { (newest, older) = (anchor, newest) } else { older = anchor }
  }

  /// Sets the closing mark in the newest anchor.
  mutating func close() { newest?.isClosed = true }
}
