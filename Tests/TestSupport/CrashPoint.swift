/// The effects of a power failure on the unsynced sectors.
public enum Damage: String, CaseIterable, Sendable {
  /// Nothing unsynced reached the disk.
  case allLost
  /// All of it did.
  case allKept
  /// The writes landed in the order they were made, up to one that is torn at some byte.
  case prefix
  /// Each write landed as a whole or not at all, whatever the order they were made in.
  case reordered
  /// Each sector holds the old bytes, the new ones, or those of a write in between.
  case oldOrNew
  /// As `oldOrNew`, and some sectors hold zeros.
  case zeroed
  /// As `oldOrNew`, and some sectors hold garbage, all of them or from one side.
  case garbage
  /// All of these at once.
  case mixed
  /// Everything landed, except for a single sector that is old, zero or garbage.
  case oneSector
  /// The file's size landed without the bytes, or the bytes without the size.
  case size
  /// Everything landed, except where it was written over older bytes: each sector there is garbage.
  case overwritten
  /// Nothing landed but the shortest of the sizes that the file was cut to.
  case cut
  /// Nothing landed but holes.
  case holes

  /// The classes of damage that only a few moments allow.
  public static let rare: Set<Damage> = [.size, .cut, .holes]
}

/// A simulated disk at one moment: the bytes that are surely on it, and the writes since.
public struct CrashPoint: Sendable {
  /// The unit that a power failure tears writes into.
  public static let sectorByteCount: UInt64 = 512

  var durable: SparseBytes
  var pending: [PendingWrite]
  /// Every size the file has had since the durable one, in order; the last is the current one.
  var pendingSizes: [UInt64]

  /// True if the durable file is empty.
  public var isNothingDurable: Bool { durable.byteCount == 0 }
  /// Writes that are not synced.
  public var unsyncedWriteCount: Int { pending.count }
  /// Whether a power failure at this moment can lose anything.
  public var hasUnsynced: Bool { !pending.isEmpty || hasUnsyncedSize }
  /// Whether the file's size may or may not have reached the disk.
  public var hasUnsyncedSize: Bool { pendingSizes.contains { $0 != durable.byteCount } }
  /// Bytes written and not synced.
  public var unsyncedByteCount: Int { pending.reduce(0) { $0 + $1.bytes.count } }

  /// True if the file was made shorter, and that isn't synced.
  public var hasUnsyncedCut: Bool { pendingSizes.contains { $0 < durable.byteCount } }
  /// True if holes were made, and that isn't synced.
  public var hasUnsyncedHole: Bool { pending.contains { $0.kind == .hole } }

  /// Returns true if whole pages were written, and not synced, where the disk has other bytes than zeros.
  public func overwritesPages(of pageSize: Int) -> Bool {
    pending.contains { write in
      write.isGarbled && write.offset % UInt64(pageSize) == 0 && write.bytes.count % pageSize == 0
        && durable.bytes(in: write.range).contains { $0 != 0 }
    }
  }

  /// The range of the last unsynced write.
  public var lastUnsyncedWrite: Range<UInt64>? { pending.last?.range }

  /// The damage classes that give different images here.
  public var possibleDamage: [Damage] {
    if !hasUnsynced { return [.allLost] }
    return Damage.allCases.filter { damage in
      switch damage {
      case .size: hasUnsyncedSize
      case .cut: hasUnsyncedCut
      case .holes: hasUnsyncedHole
      case .allLost, .allKept: true
      case .prefix, .reordered, .oldOrNew, .zeroed, .garbage, .mixed, .oneSector, .overwritten:
        !pending.isEmpty
      }
    }
  }

  /// Returns the bytes that a power failure at this moment leaves on the disk. The same seed gives the same image.
  public func image(_ damage: Damage, seed: UInt64) -> SparseBytes {
    guard hasUnsynced else { return durable }
    var generator = SeededGenerator(seed: seed)
    var image = durable
    switch damage {
    case .allLost: break
    case .allKept: apply(pending, to: &image)
    case .prefix: applyPrefix(to: &image, using: &generator)
    case .reordered: apply(pending.filter { _ in generator.next() & 1 == 0 }, to: &image)
    case .oldOrNew, .zeroed, .garbage, .mixed:
      applySectors(damage, seed: seed, to: &image)
    case .oneSector:
      apply(pending, to: &image)
      damageOneSector(of: &image, using: &generator)
    case .size: return imageWithWrongSize(using: &generator)
    case .overwritten:
      apply(pending, to: &image)
      garbleOverwrittenSectors(of: &image, seed: seed)
    case .cut: break
    case .holes: apply(pending.filter { $0.kind == .hole }, to: &image)
    }
    image.truncate(to: size(after: damage, using: &generator))
    return image
  }
}

/// Bytes that are in the page cache and perhaps on the disk.
struct PendingWrite: Sendable {
  var offset: UInt64
  var bytes: ArraySlice<UInt8>
  var kind = Kind.bytes

  enum Kind {
    case bytes
    /// The zeros that cutting the file leaves: nothing was written, so nothing can be garbled.
    case cut
    /// The zeros of a hole: here nothing was written, either.
    case hole
  }

  var isGarbled: Bool { kind == .bytes }

  var range: Range<UInt64> { offset..<offset + UInt64(bytes.count) }

  /// The parts of the write that lie in one sector each.
  func forEachSector(_ body: (_ sector: UInt64, _ part: PendingWrite) -> Void) {
    var position = offset
    while position < range.upperBound {
      let sector = position / CrashPoint.sectorByteCount
      let end = min((sector + 1) * CrashPoint.sectorByteCount, range.upperBound)
      body(sector, part(position..<end))
      position = end
    }
  }

  /// The bytes of the write that lie in `wanted`, which must be inside of ``range``.
  func part(_ wanted: Range<UInt64>) -> PendingWrite {
    let first = bytes.startIndex + Int(wanted.lowerBound - offset)
    return PendingWrite(offset: wanted.lowerBound, bytes: bytes[first..<first + wanted.count], kind: kind)
  }

  func apply(to image: inout SparseBytes) {
    bytes.withUnsafeBytes { image.overwrite($0, at: offset) }
  }
}

extension CrashPoint {
  private func apply(_ writes: some Sequence<PendingWrite>, to image: inout SparseBytes) {
    for write in writes { write.apply(to: &image) }
  }

  private func applyPrefix(to image: inout SparseBytes, using generator: inout SeededGenerator) {
    let landed = generator.number(in: 0...pending.count)
    apply(pending.prefix(landed), to: &image)
    guard landed < pending.count else { return }
    let torn = pending[landed]
    var end = torn.offset + generator.next() % UInt64(torn.bytes.count + 1)
    // A tear shows only where old and new bytes differ.
    if generator.chance(1, in: 2), let place = changes(by: torn, in: image).randomElement(using: &generator) {
      end = place
    }
    torn.part(torn.offset..<end).apply(to: &image)
  }

  /// Returns the positions where a write changes bytes, among its first ones.
  private func changes(by write: PendingWrite, in image: SparseBytes) -> [UInt64] {
    let range = write.offset..<min(write.range.upperBound, write.offset + 4_096)
    let old = image.bytes(in: range)
    return range.filter { place in
      let index = Int(place - range.lowerBound)
      return write.bytes[write.bytes.startIndex + index] != (index < old.count ? old[index] : 0)
    }
  }

  /// A sector's fate depends on the seed and the sector's number, never on the order of visits.
  private func applySectors(_ damage: Damage, seed: UInt64, to image: inout SparseBytes) {
    for (index, write) in pending.enumerated() {
      write.forEachSector { sector, part in
        if index < landedWrites(in: sector, seed: seed) { part.apply(to: &image) }
      }
    }
    guard damage != .oldOrNew else { return }
    // Whole sectors are damaged after all writes, so that a later write of the same sector doesn't mend it.
    for write in pending where write.isGarbled {
      write.forEachSector { sector, _ in
        let fate = mixed(seed &+ 1, sector)
        guard fate % 4 == 0 else { return }
        let zeroes = damage == .zeroed || (damage == .mixed && (fate >> 8) & 1 == 0)
        ruin(sector, zeroes: zeroes, seed: fate, in: &image)
      }
    }
  }

  /// Returns how many of the pending writes, counted from the first, this sector has received.
  private func landedWrites(in sector: UInt64, seed: UInt64) -> Int {
    let fate = mixed(seed, sector)
    switch fate % 4 {
    case 0: return 0
    case 1: return Int((fate >> 8) % UInt64(pending.count + 1))
    default: return pending.count
    }
  }

  private func damageOneSector(of image: inout SparseBytes, using generator: inout SeededGenerator) {
    guard !pending.isEmpty else { return }
    let write = generator.pick(pending)
    let sectors =
      write.range.lowerBound / Self.sectorByteCount...(write.range.upperBound - 1) / Self.sectorByteCount
    let sector = UInt64.random(in: sectors, using: &generator)
    switch generator.number(in: 0...2) {
    case 0:
      let start = sector * Self.sectorByteCount
      var old = durable
      old.truncate(to: max(old.byteCount, start + Self.sectorByteCount))
      image.overwrite(old.bytes(in: start..<start + Self.sectorByteCount), at: start)
    case 1: ruin(sector, zeroes: true, seed: 0, in: &image)
    default: ruin(sector, zeroes: !write.isGarbled, seed: generator.next(), in: &image)
    }
  }

  /// Fills a sector with zeros, or all of it or its left or right part with garbage.
  private func ruin(_ sector: UInt64, zeroes: Bool, seed: UInt64, in image: inout SparseBytes) {
    let start = sector * Self.sectorByteCount
    if zeroes {
      image.overwrite([UInt8](repeating: 0, count: Int(Self.sectorByteCount)), at: start)
      return
    }
    var generator = SeededGenerator(seed: seed)
    let garbage = generator.bytes(Int(Self.sectorByteCount))
    let split = generator.number(in: 1...garbage.count - 1)
    switch generator.number(in: 0...2) {
    case 0: image.overwrite(garbage, at: start)
    case 1: image.overwrite(Array(garbage[..<split]), at: start)
    default: image.overwrite(Array(garbage[split...]), at: start + UInt64(split))
    }
  }

  /// Ruins only sectors that hold other bytes than zeros: garbage in place of zeros does no harm.
  private func garbleOverwrittenSectors(of image: inout SparseBytes, seed: UInt64) {
    for write in pending where write.isGarbled {
      write.forEachSector { sector, _ in
        let start = sector * Self.sectorByteCount
        let old = durable.bytes(in: start..<start + Self.sectorByteCount)
        guard old.contains(where: { $0 != 0 }) else { return }
        ruin(sector, zeroes: false, seed: mixed(seed, sector), in: &image)
      }
    }
  }

  private func imageWithWrongSize(using generator: inout SeededGenerator) -> SparseBytes {
    var image = durable
    if generator.next() & 1 == 0 {
      apply(pending, to: &image)
      image.truncate(to: durable.byteCount)
    } else {
      image.truncate(to: generator.pick([durable.byteCount] + pendingSizes))
    }
    return image
  }

  private func size(after damage: Damage, using generator: inout SeededGenerator) -> UInt64 {
    switch damage {
    case .allLost, .holes: durable.byteCount
    case .cut: pendingSizes.min() ?? durable.byteCount
    case .allKept, .oneSector, .overwritten: pendingSizes.last ?? durable.byteCount
    default: generator.pick([durable.byteCount, pendingSizes.last ?? durable.byteCount] + pendingSizes)
    }
  }
}
