/// The ways in which bytes of a file change at rest.
public enum Rot: String, CaseIterable, Sendable {
  case bitFlipped
  case byteChanged
  case sectorZeroed
  case sectorGarbled
  /// A sector holds its contents of some time ago.
  case sectorStale
  /// A sector holds a copy of another one.
  case sectorDuplicated
  case sectorsSwapped
  case pageZeroed
  case pageStale
  case pageDuplicated
  case pagesSwapped
  case truncated
  case extendedByGarbage
  case extendedByItsTail
  /// An anchor holds its contents of some time ago: perhaps with the mark of a closed store.
  case anchorStale

  /// Whether the damage may hit more than one record of the log at once.
  var isWide: Bool {
    switch self {
    case .sectorsSwapped, .pageZeroed, .pageStale, .pageDuplicated, .pagesSwapped, .truncated: true
    default: false
    }
  }
}

extension Rot {
  /// Whether bytes change in two unrelated places.
  var hitsTwoPlaces: Bool { self == .sectorsSwapped || self == .pagesSwapped }
}

/// A store's file at rest, with the information needed to damage its important bytes.
public struct RottingFile: Sendable {
  public var image: SparseBytes
  /// The contents of the file at earlier times.
  public var earlier: [SparseBytes]
  /// Where the store has written: small and rare writes (headers, anchors) are hit as often as large ones.
  public var writes: [Range<UInt64>]
  public var pageSize: Int

  public init(image: SparseBytes, earlier: [SparseBytes], writes: [Range<UInt64>], pageSize: Int) {
    self.image = image
    self.earlier = earlier
    self.writes = writes.filter { $0.lowerBound < image.byteCount }
    self.pageSize = pageSize
  }

  /// The file with one kind of damage at a place that the generator chooses.
  public func rotten(_ rot: Rot, using generator: inout SeededGenerator) -> SparseBytes {
    var result = image
    let sector = Int(CrashPoint.sectorByteCount)
    switch rot {
    case .bitFlipped: xor(1 << UInt8(generator.number(in: 0...7)), into: &result, using: &generator)
    case .byteChanged: xor(UInt8(generator.number(in: 1...255)), into: &result, using: &generator)
    case .sectorZeroed:
      result.overwrite([UInt8](repeating: 0, count: sector), at: unit(sector, using: &generator))
    case .sectorGarbled: result.overwrite(generator.bytes(sector), at: unit(sector, using: &generator))
    case .sectorStale: makeStale(sector, in: &result, using: &generator)
    case .sectorDuplicated: duplicate(sector, in: &result, swaps: false, using: &generator)
    case .sectorsSwapped: duplicate(sector, in: &result, swaps: true, using: &generator)
    case .pageZeroed:
      result.overwrite([UInt8](repeating: 0, count: pageSize), at: unit(pageSize, using: &generator))
    case .pageStale: makeStale(pageSize, in: &result, using: &generator)
    case .pageDuplicated: duplicate(pageSize, in: &result, swaps: false, using: &generator)
    case .pagesSwapped: duplicate(pageSize, in: &result, swaps: true, using: &generator)
    case .anchorStale: makeAnchorStale(in: &result, using: &generator)
    case .truncated: result.truncate(to: generator.next() % image.byteCount)
    case .extendedByGarbage:
      result.write(generator.bytes(generator.number(in: 1...20_000)), at: image.byteCount)
    case .extendedByItsTail:
      let count = UInt64(generator.number(in: 1...100_000))
      let start = image.byteCount - min(count, image.byteCount)
      result.write(image.bytes(in: start..<image.byteCount), at: image.byteCount)
    }
    if rot != .truncated, rot != .extendedByGarbage, rot != .extendedByItsTail {
      result.truncate(to: image.byteCount)
    }
    return result
  }

  /// A byte's place: half the time anywhere, half the time in one of the store's writes.
  private func place(using generator: inout SeededGenerator) -> UInt64 {
    if let write = writes.randomElement(using: &generator), generator.chance(1, in: 2) {
      return min(UInt64.random(in: write, using: &generator), image.byteCount - 1)
    }
    // Most of a small store's file is zeros set aside for later. Other bytes are hit more often.
    var place = generator.next() % image.byteCount
    for _ in 0..<8 where image.bytes(in: place..<place + 1) == [0] {
      place = generator.next() % image.byteCount
    }
    return place
  }

  private func unit(_ size: Int, using generator: inout SeededGenerator) -> UInt64 {
    place(using: &generator) / UInt64(size) * UInt64(size)
  }

  private func xor(_ mask: UInt8, into result: inout SparseBytes, using generator: inout SeededGenerator) {
    let place = place(using: &generator)
    result.overwrite(result.bytes(in: place..<place + 1).map { $0 ^ mask }, at: place)
  }

  private func makeStale(_ size: Int, in result: inout SparseBytes, using generator: inout SeededGenerator) {
    guard let old = earlier.randomElement(using: &generator) else { return }
    let start = unit(size, using: &generator)
    result.overwrite(old.padded(start..<start + UInt64(size)), at: start)
  }

  private func makeAnchorStale(in result: inout SparseBytes, using generator: inout SeededGenerator) {
    guard let old = earlier.randomElement(using: &generator) else { return }
    let start = generator.pick([UInt64(4_096), 8_192])
    result.overwrite(old.padded(start..<start + CrashPoint.sectorByteCount), at: start)
  }

  private func duplicate(
    _ size: Int,
    in result: inout SparseBytes,
    swaps: Bool,
    using generator: inout SeededGenerator
  ) {
    let source = unit(size, using: &generator)
    let target = unit(size, using: &generator)
    result.overwrite(image.padded(source..<source + UInt64(size)), at: target)
    if swaps { result.overwrite(image.padded(target..<target + UInt64(size)), at: source) }
  }
}

extension SparseBytes {
  /// The bytes of `range`; zeros where the file doesn't reach.
  fileprivate func padded(_ range: Range<UInt64>) -> [UInt8] {
    let bytes = bytes(in: range)
    return bytes + [UInt8](repeating: 0, count: range.count - bytes.count)
  }
}
