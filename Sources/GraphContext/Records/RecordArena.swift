/// Memory for the records of one save: allocated in large blocks, freed all at once.
///
/// Records are built one at a time at the end of the newest block. A record that outgrows its block moves to a new one
/// while it is built; finished records never move, so their addresses hold until the arena goes.
package struct RecordArena: ~Copyable {
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  /// Bytes of the newest block in use, the record being built included.
  private var used = 0
  /// Where in the newest block the record being built begins.
  private var start = 0
  private let blockByteCount: Int

  /// - Parameter blockByteCount: bytes asked of the system at a time.
  package init(blockByteCount: Int = 1 << 20) {
    self.blockByteCount = blockByteCount
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Bytes held, used or not.
  package var capacity: Int { blocks.reduce(0) { $0 + $1.count } }

  /// Begins a record of `count` zero bytes.
  mutating func begin(_ count: Int) {
    start = used
    extend(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }

  /// Adds `count` uninitialised bytes at the end of the record being built and returns their address.
  mutating func extend(by count: Int) -> UnsafeMutableRawPointer {
    if let block = blocks.last, block.count - used >= count, let base = block.baseAddress {
      defer { used += count }
      return base + used
    }
    return extendInNewBlock(by: count)
  }

  private mutating func extendInNewBlock(by count: Int) -> UnsafeMutableRawPointer {
    let building = used - start
    let size = max(blockByteCount, 2 * (building + count))
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    // A block is never empty, so it has an address.
    let base = block.baseAddress.unsafelyUnwrapped
    if building > 0, let old = blocks.last?.baseAddress {
      base.copyMemory(from: old + start, byteCount: building)
    }
    blocks.append(block)
    start = 0
    used = building + count
    return base + building
  }

  /// The record being built, or the last one finished.
  var current: UnsafeMutableRawBufferPointer {
    guard let block = blocks.last else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    return UnsafeMutableRawBufferPointer(rebasing: block[start..<used])
  }
}
