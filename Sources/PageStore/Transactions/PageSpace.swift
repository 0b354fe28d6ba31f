/// Room for pages that the next checkpoint will write, set aside before a commit is accepted: so a checkpoint always
/// fits, and a full disk shows itself to the transaction that would need more, which alone fails.
///
/// Used only by whoever has the writer's turn.
struct PageSpace {
  private(set) var map: SpaceMap
  /// Blocks that the file system has given us and no extent uses.
  private var reserve: Extent?
  private let file: StoreFile

  /// Kept for transactions that only remove, so that they go through on a full disk.
  static func removalReserve(pageSize: UInt64) -> UInt64 { max(128 << 10, 8 * pageSize) }
  /// Room is set aside in steps, up to this.
  private static let largestStep: UInt64 = 16 << 20

  init(map: SpaceMap, file: StoreFile) {
    self.map = map
    self.file = file
  }

  /// Sees to it that `byteCount` bytes can be written as one extent. Throws `diskFull`, with nothing changed.
  mutating func ensure(_ byteCount: UInt64) throws(StoreError) {
    let byteCount = byteCount.roundedUp(to: map.pageSize)
    let reserved = reserve?.byteCount ?? 0
    guard reserved < byteCount else { return }
    let generous =
      byteCount + min(max(byteCount / 2, 256 << 10), Self.largestStep).roundedUp(to: map.pageSize)
    do {
      try enlarge(to: generous)
    } catch  where error.code == .diskFull {
      try enlarge(to: byteCount)
    }
  }

  private mutating func enlarge(to byteCount: UInt64) throws(StoreError) {
    var map = map
    // With what lies beside it: a checkpoint that failed has given back room there.
    if let reserve { map.giveBack(reserve) }
    let extent = try map.take(byteCount: byteCount)
    try file.allocate(extent.range)
    reserve = extent
    self.map = map
  }

  /// Takes an extent for pages out of the reserve, which is enlarged if it must.
  mutating func takePageExtent(byteCount: UInt64) throws(StoreError) -> Extent {
    let byteCount = byteCount.roundedUp(to: map.pageSize)
    try ensure(byteCount)
    let whole = reserve ?? Extent(offset: map.end, byteCount: 0)
    let rest = whole.byteCount - byteCount
    reserve = rest > 0 ? Extent(offset: whole.offset + byteCount, byteCount: rest) : nil
    return Extent(offset: whole.offset, byteCount: byteCount)
  }

  /// Takes room for a log extent at the end of the file.
  mutating func takeLogExtent(byteCount: UInt64) throws(StoreError) -> Extent {
    try map.takeAtEnd(byteCount: byteCount)
  }

  /// Gives back room that nothing refers to.
  mutating func giveBack(_ extent: Extent) { map.giveBack(extent) }

  /// Gives up the reserve and the free end of the file.
  mutating func release() {
    if let reserve { map.giveBack(reserve) }
    reserve = nil
    while map.shrinkEnd() {}
  }

  /// What belongs to no extent, the reserve included: what a checkpoint records.
  var gaps: [Extent] {
    var map = map
    if let reserve { map.giveBack(reserve) }
    return map.gaps
  }

  var end: UInt64 { map.end }
}
