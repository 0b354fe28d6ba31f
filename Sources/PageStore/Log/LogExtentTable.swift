/// The log extents of a store, in use or free. Guarded by ``Committer/state``: commits and concurrent
/// checkpoints both take extents.
struct LogExtentTable {
  /// The newest use of each extent. An extent whose use has an epoch below ``freeBelow`` is free.
  private(set) var uses: [LogExtentUse]
  /// Extents whose newest use has a lower epoch are free. This is the epoch in which replay from the
  /// checkpoint before the last begins: extents are reused one checkpoint later than the last one alone would
  /// allow.
  private(set) var freeBelow: UInt32
  /// The epoch in which replay from the last checkpoint begins.
  private(set) var replayEpoch: UInt32
  private var newestEpoch: UInt32

  init(uses: [LogExtentUse], newestEpoch: UInt32, freeBelow: UInt32, replayEpoch: UInt32) {
    self.uses = uses
    self.freeBelow = freeBelow
    self.replayEpoch = replayEpoch
    self.newestEpoch = newestEpoch
  }

  var extents: [Extent] { uses.map(\.extent) }
  var byteCount: UInt64 { uses.reduce(0) { $0 + $1.extent.byteCount } }

  /// Returns the first free extent of the file that has at least `byteCount` bytes, and isn't one of
  /// `others`.
  func freeExtent(byteCount: UInt64, besides others: [Extent] = []) -> Extent? {
    uses.filter { $0.epoch < freeBelow && $0.extent.byteCount >= byteCount && !others.contains($0.extent) }
      .min { $0.extent.offset < $1.extent.offset }?.extent
  }

  /// Keeps free extents of up to `byteCount` bytes together, removes the other free ones, and returns their
  /// last uses. Extents are kept in the order of their offsets, if they fit; the first extent of the file
  /// always stays.
  mutating func giveUp(keeping byteCount: UInt64) -> [LogExtentUse] {
    var kept: UInt64 = 0
    var givenUp: [LogExtentUse] = []
    let first = uses.map(\.extent.offset).min()
    for use in uses.sorted(by: { $0.extent.offset < $1.extent.offset }) where use.epoch < freeBelow {
      if use.extent.offset == first || kept + use.extent.byteCount <= byteCount {
        kept += use.extent.byteCount
      } else {
        givenUp.append(use)
      }
    }
    uses.removeAll { givenUp.contains($0) }
    return givenUp
  }

  /// Adds extents that ``giveUp(keeping:)`` has removed.
  mutating func takeBack(_ givenUp: [LogExtentUse]) { uses += givenUp }

  /// Throws `numbersUsedUp` if no epochs are left. For a transaction, the epochs that closing and opening the
  /// store will need must be left as well.
  func checkEpochsLeft(forTransaction isTransaction: Bool = false) throws(StoreError) {
    let reserve = isTransaction ? UInt32(LogRecordHeader.upkeepReserve) : 0
    guard newestEpoch < LogExtentUse.epochLimit - 1 - reserve else {
      throw StoreError.numbersUsedUp("uses of its log extents")
    }
  }

  /// Begins a new use of a free or new extent. Throws `numbersUsedUp`, with nothing changed.
  mutating func beginUse(of extent: Extent, salt: UInt64) throws(StoreError) -> LogExtentUse {
    try checkEpochsLeft()
    newestEpoch += 1
    let use = LogExtentUse(extent: extent, epoch: newestEpoch, salt: salt)
    uses.removeAll { $0.extent.offset == extent.offset }
    uses.append(use)
    return use
  }

  /// Notes that a checkpoint is durable. Its replay begins in the use with this epoch.
  mutating func noteCheckpoint(replayingFromEpoch epoch: UInt32) {
    freeBelow = replayEpoch
    replayEpoch = epoch
  }
}
