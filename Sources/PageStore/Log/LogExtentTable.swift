/// The log extents of a store, in use or free. Guarded by ``Committer/state``: commits and concurrent
/// checkpoints both take extents.
struct LogExtentTable {
  /// The newest use of each extent. A use whose epoch lies below ``freeBelow`` is over.
  private(set) var uses: [LogExtentUse]
  /// Extents whose newest use began before this epoch are free. Reclaim lags one checkpoint, so this is the epoch in
  /// which replay from the checkpoint before the last begins.
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

  /// The free extent furthest to the front of the file that is no smaller than asked for.
  func freeExtent(byteCount: UInt64) -> Extent? {
    uses.filter { $0.epoch < freeBelow && $0.extent.byteCount >= byteCount }
      .min { $0.extent.offset < $1.extent.offset }?.extent
  }

  /// Takes free extents out of the table that are more than `byteCount` bytes of free ones, those furthest behind in the file
  /// first. The first extent always stays. Returns their last uses.
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

  /// Puts extents back that were taken out.
  mutating func takeBack(_ givenUp: [LogExtentUse]) { uses += givenUp }

  /// Whether there are epochs left: for a transaction, with those that closing and opening the store will need.
  func checkEpochsLeft(forTransaction isTransaction: Bool = false) throws(StoreError) {
    let reserve = isTransaction ? UInt32(LogRecordHeader.upkeepReserve) : 0
    guard newestEpoch < LogExtentUse.epochLimit - 1 - reserve else {
      throw StoreError.numbersUsedUp("uses of its log extents")
    }
  }

  /// Notes a new use of a free or new extent. Throws `numbersUsedUp`, with nothing noted.
  mutating func beginUse(of extent: Extent, salt: UInt64) throws(StoreError) -> LogExtentUse {
    try checkEpochsLeft()
    newestEpoch += 1
    let use = LogExtentUse(extent: extent, epoch: newestEpoch, salt: salt)
    uses.removeAll { $0.extent.offset == extent.offset }
    uses.append(use)
    return use
  }

  /// Notes that a checkpoint is durable whose replay begins in the use with this epoch.
  mutating func noteCheckpoint(replayingFromEpoch epoch: UInt32) {
    freeBelow = replayEpoch
    replayEpoch = epoch
  }
}
