/// Memory for records of a save, or for records that were read: allocated in blocks, each larger than the last, and
/// freed all at once.
///
/// Records are built one at a time at the end of the newest block. A record that outgrows its block moves to a new one
/// while it is built; finished records never move, so their addresses hold until the arena goes.
struct RecordArena: ~Copyable {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  /// The newest of the blocks, at hand.
  private var newest = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// Bytes of the newest block in use, the record being built included.
  private var used = 0
  /// Where in the newest block the record being built begins.
  private var start = 0
  private let largestBlockByteCount: Int
  /// Bytes of finished blocks.
  private var usedBefore = 0

  private static let firstBlockByteCount = 4 << 10

  /// - Parameter largestBlockByteCount: bytes asked of the system at a time, once there are many.
  init(largestBlockByteCount: Int = 1 << 20) {
    self.largestBlockByteCount = largestBlockByteCount
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Bytes held, used or not.
  var capacity: Int { blocks.reduce(0) { $0 + $1.count } }

  /// Bytes of records.
  var byteCount: Int { usedBefore + used }

  /// A copy of a record, which stays where it is until the arena goes.
  mutating func copy(_ record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    start = used
    let bytes = extend(by: record.count)
    if let source = record.baseAddress { bytes.copyMemory(from: source, byteCount: record.count) }
    return UnsafeRawBufferPointer(start: bytes, count: record.count)
  }

  /// Forgets every record, and keeps some memory for the next.
  mutating func removeAll() {
    for block in blocks.dropLast() { block.deallocate() }
    blocks.removeFirst(max(0, blocks.count - 1))
    used = 0
    start = 0
    usedBefore = 0
  }

  /// Begins a record of `count` zero bytes.
  mutating func begin(_ count: Int) {
    start = used
    extend(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }

  /// Adds `count` uninitialised bytes at the end of the record being built and returns their address.
  mutating func extend(by count: Int) -> UnsafeMutableRawPointer {
    if newest.count - used >= count, let base = newest.baseAddress {
      defer { used += count }
      return base + used
    }
    return extendInNewBlock(by: count)
  }

  private mutating func extendInNewBlock(by count: Int) -> UnsafeMutableRawPointer {
    let building = used - start
    let doubled = 2 * (blocks.last?.count ?? Self.firstBlockByteCount / 2)
    let size = max(min(largestBlockByteCount, doubled), 2 * (building + count))
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    // A block is never empty, so it has an address.
    let base = block.baseAddress.unsafelyUnwrapped
    if building > 0, let old = blocks.last?.baseAddress {
      base.copyMemory(from: old + start, byteCount: building)
    }
    blocks.append(block)
    newest = block
    usedBefore += start
    start = 0
    used = building + count
    return base + building
  }

  /// The record being built, or the last one finished.
  var current: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: newest.baseAddress.map { $0 + start }, count: used - start)
  }
}
