import PageStore

/// The expected entries of a tree, kept in the simplest way that can be right: a sorted array.
///
/// Shares no code with the engine; of the engine's types it uses ``KeyRange`` alone.
public struct SortedArrayOracle: Sendable {
  public typealias Entry = (key: [UInt8], value: [UInt8])

  /// The entries in ascending order of their keys.
  public private(set) var entries: [Entry] = []
  /// Sum of the entries' hashes, independent of the order of insertion.
  public private(set) var digest: UInt64 = 0

  public init() {}

  public var count: Int { entries.count }

  /// The number of keys below `key`.
  public func rank(of key: [UInt8]) -> Int {
    var lower = 0
    var upper = entries.count
    while lower < upper {
      let middle = (lower + upper) / 2
      if entries[middle].key.precedes(key) { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  /// The value of `key`.
  public func value(for key: [UInt8]) -> [UInt8]? {
    position(of: key).map { entries[$0].value }
  }

  /// The positions of the keys in `range`.
  public func positions(in range: KeyRange) -> Range<Int> {
    let lower =
      switch range.lower {
      case .unbounded: 0
      case .including(let key): rank(of: key)
      case .excluding(let key): rank(of: key) + (position(of: key) == nil ? 0 : 1)
      }
    let upper =
      switch range.upper {
      case .unbounded: entries.count
      case .including(let key): rank(of: key) + (position(of: key) == nil ? 0 : 1)
      case .excluding(let key): rank(of: key)
      }
    return lower..<max(lower, upper)
  }

  /// The entries whose keys are in `range`.
  public func entries(in range: KeyRange) -> ArraySlice<Entry> { entries[positions(in: range)] }

  /// Puts an entry in; returns the value that was there.
  @discardableResult
  public mutating func put(_ key: [UInt8], _ value: [UInt8]) -> [UInt8]? {
    digest &+= entryDigest(key, value)
    let index = rank(of: key)
    if index < entries.count, entries[index].key.equals(key) {
      let old = entries[index].value
      digest &-= entryDigest(key, old)
      entries[index].value = value
      return old
    }
    entries.insert((key, value), at: index)
    return nil
  }

  /// Takes an entry out; returns the value that was there.
  @discardableResult
  public mutating func remove(_ key: [UInt8]) -> [UInt8]? {
    guard let index = position(of: key) else { return nil }
    let old = entries.remove(at: index).value
    digest &-= entryDigest(key, old)
    return old
  }

  /// Takes out every entry in `range`; returns how many there were.
  @discardableResult
  public mutating func removeRange(_ range: KeyRange) -> Int {
    let positions = positions(in: range)
    for entry in entries[positions] { digest &-= entryDigest(entry.key, entry.value) }
    entries.removeSubrange(positions)
    return positions.count
  }

  private func position(of key: [UInt8]) -> Int? {
    let index = rank(of: key)
    return index < entries.count && entries[index].key.equals(key) ? index : nil
  }
}

/// A hash of an entry, for sums of entries: FNV-1a over words, mixed at the end. Not the engine's hash.
public func entryDigest(_ key: [UInt8], _ value: [UInt8]) -> UInt64 {
  key.withUnsafeBytes { key in value.withUnsafeBytes { value in entryDigest(key, value) } }
}

public func entryDigest(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> UInt64 {
  mixed(fold(key, into: 0xCBF2_9CE4_8422_2325), fold(value, into: 0x9AE1_6A3B_2F90_404F))
}

private func fold(_ bytes: UnsafeRawBufferPointer, into start: UInt64) -> UInt64 {
  var hash = start ^ UInt64(bytes.count)
  var offset = 0
  while offset + 8 <= bytes.count {
    hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x0000_0100_0000_01B3
    hash ^= hash >> 29
    offset += 8
  }
  while offset < bytes.count {
    hash = (hash ^ UInt64(bytes[offset])) &* 0x0000_0100_0000_01B3
    offset += 1
  }
  return hash
}
