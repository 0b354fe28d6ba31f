/// The header of a log record, in front of its payload. Docs/FileFormat.md, section 6.
struct LogRecordHeader: Hashable {
  enum Kind: UInt8, CaseIterable {
    /// One committed transaction: its changes, key by key.
    case transaction = 1
    /// The state of the store at a commit, in pages of the file. Recovery begins with it.
    case checkpoint = 2
    /// The last record of an extent: the position at which the log continues.
    case link = 3
    /// Only a durable sequence, which vouches for the records before it.
    case watermark = 4
  }

  /// Bytes of header and payload, without the padding to the next boundary.
  var byteCount: UInt32
  var sequence: UInt64
  /// The checksum of the record before it, in this extent or another: it makes the records a chain.
  var previousChecksum: UInt64
  /// The highest sequence known to be durable when this record was written. Records up to it were on the
  /// device, so damage to them is rot, never a torn tail.
  var durableSequence: UInt64
  /// The last commit that this record contains.
  var commit: UInt64
  /// Milliseconds since 1970 of that commit.
  var timestamp: Int64
  var epoch: UInt32
  var kind: Kind
  var durability: Durability

  /// "CLR\u{1}"
  static let magic: UInt32 = 0x0152_4C43
  static let encodedByteCount = 64
  /// The longest record: a transaction of the greatest length, or a checkpoint with its tables.
  static let byteLimit = StoreLimits.logRecordByteCount + (64 << 10)

  /// More records, and more commits, than any store makes; a page's birth has 48 bits for the commit. Bytes
  /// that claim more are forged, and later numbers would overflow.
  static let sequenceLimit: UInt64 = 1 << 62
  static let commitLimit: UInt64 = 1 << 47
  /// The numbers of records, and of uses of log extents, that transactions leave for checkpoints, links,
  /// closing and recoveries.
  static let upkeepReserve: UInt64 = 1 << 20

  enum Offset {
    static let checksum = 0
    static let magic = 8
    static let byteCount = 12
    static let sequence = 16
    static let previousChecksum = 24
    static let durableSequence = 32
    static let commit = 40
    static let timestamp = 48
    static let epoch = 56
    static let kind = 60
    static let durability = 61
    static let flags = 62
  }

  /// Bytes that the record takes in the log, padding included.
  var paddedByteCount: UInt64 { UInt64(byteCount).roundedUp(to: LogExtentUse.recordAlignment) }

  /// Writes the header to the start of `record`, which has room for it. Returns the record's checksum.
  func seal(_ record: inout [UInt8], salt: UInt64) -> UInt64 {
    record.withUnsafeMutableBytes { bytes in
      bytes.setInteger(Self.magic, at: Offset.magic)
      bytes.setInteger(byteCount, at: Offset.byteCount)
      bytes.setInteger(sequence, at: Offset.sequence)
      bytes.setInteger(previousChecksum, at: Offset.previousChecksum)
      bytes.setInteger(durableSequence, at: Offset.durableSequence)
      bytes.setInteger(commit, at: Offset.commit)
      bytes.setInteger(timestamp, at: Offset.timestamp)
      bytes.setInteger(epoch, at: Offset.epoch)
      bytes.setInteger(kind.rawValue, at: Offset.kind)
      bytes.setInteger(durability.rawValue, at: Offset.durability)
      bytes.setInteger(UInt16(0), at: Offset.flags)
      let checksum = Self.checksum(of: UnsafeRawBufferPointer(bytes), salt: salt)
      bytes.setInteger(checksum, at: Offset.checksum)
      return checksum
    }
  }

  /// Returns the length that the start of a record claims, if it looks like a record of this use. Other bytes
  /// are neither read further nor hashed.
  static func claimedByteCount(_ bytes: UnsafeRawBufferPointer, use: LogExtentUse) -> Int? {
    guard bytes.count >= encodedByteCount, bytes.integer(at: Offset.magic, as: UInt32.self) == magic,
      bytes.integer(at: Offset.epoch, as: UInt32.self) == use.epoch, use.epoch < LogExtentUse.epochLimit,
      bytes.integer(at: Offset.sequence, as: UInt64.self) < sequenceLimit,
      bytes.integer(at: Offset.commit, as: UInt64.self) < commitLimit
    else { return nil }
    let byteCount = Int(bytes.integer(at: Offset.byteCount, as: UInt32.self))
    return byteCount >= encodedByteCount && byteCount <= byteLimit ? byteCount : nil
  }

  /// Returns the header and the checksum of a complete and undamaged record of this use at the start of
  /// `bytes`; nil for anything else.
  static func decode(_ bytes: UnsafeRawBufferPointer, use: LogExtentUse) -> (header: Self, checksum: UInt64)?
  {
    guard let byteCount = claimedByteCount(bytes, use: use), byteCount <= bytes.count else { return nil }
    let checksum = bytes.integer(at: Offset.checksum, as: UInt64.self)
    let record = UnsafeRawBufferPointer(rebasing: bytes[..<byteCount])
    // guard: check-record
    guard checksum == self.checksum(of: record, salt: use.salt) else { return nil }
    guard let kind = Kind(rawValue: bytes[Offset.kind]),
      let durability = Durability(rawValue: bytes[Offset.durability])
    else { return nil }
    let header = Self(
      byteCount: UInt32(byteCount),
      sequence: bytes.integer(at: Offset.sequence, as: UInt64.self),
      previousChecksum: bytes.integer(at: Offset.previousChecksum, as: UInt64.self),
      durableSequence: bytes.integer(at: Offset.durableSequence, as: UInt64.self),
      commit: bytes.integer(at: Offset.commit, as: UInt64.self),
      timestamp: bytes.integer(at: Offset.timestamp, as: Int64.self),
      epoch: use.epoch,
      kind: kind,
      durability: durability
    )
    return (header, checksum)
  }

  private static func checksum(of record: UnsafeRawBufferPointer, salt: UInt64) -> UInt64 {
    XXH64.hash(UnsafeRawBufferPointer(rebasing: record[Offset.magic...]), seed: salt)
  }
}
