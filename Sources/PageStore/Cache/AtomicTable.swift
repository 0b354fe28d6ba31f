import Glibc
import Synchronization

/// A sparse array of 2³² atomic words, all zero at first, in two levels of lazily touched memory.
///
/// Reading takes two dependent loads and no lock; the words a store uses stay in the processor's caches. A
/// word leads to memory that was written before it was published, which is why loads acquire and stores
/// release.
// Safety: the directory is never replaced, its words are only touched atomically, and a second-level block
// that has been published stays until `deallocate`, which the owner calls when no reader is left.
struct AtomicTable: @unchecked Sendable {
  private let directory: UnsafeMutablePointer<Atomic<UInt>>
  /// The block of the lowest indexes. The directory leads to it once a word is stored there.
  private let firstBlock: UnsafeMutablePointer<Atomic<UInt>>
  /// The memory of `directory` and `firstBlock`, which the table retains without counting its own copies.
  private let memory: Unmanaged<SharedMapping>
  /// One more than the highest index at which a word was ever stored.
  private let limit: UnsafeMutablePointer<Atomic<UInt64>>

  private static let blockBits = 16
  private static let blockCount = 1 << blockBits
  /// Words in the table.
  static let count: UInt64 = 1 << 32

  private static let blockByteCount = blockCount * MemoryLayout<UInt>.size
  /// Bytes that the table needs of a mapping, for its directory and its first block.
  static let mappedByteCount = 2 * blockByteCount

  /// - Parameter memory: the mapping of which the table takes a part.
  init(in memory: SharedMapping = SharedMapping(byteCount: mappedByteCount)) {
    directory = Self.block(in: memory.take(byteCount: Self.blockByteCount))
    firstBlock = Self.block(in: memory.take(byteCount: Self.blockByteCount))
    self.memory = .passRetained(memory)
    limit = .allocate(capacity: 1)
    limit.initialize(to: Atomic(0))
  }

  /// Returns the word at `index`, or zero when nothing was ever stored there.
  @inline(__always)
  func load(_ index: UInt64) -> UInt {
    guard index < Self.count else { return 0 }
    let block = directory[Int(truncatingIfNeeded: index >> UInt64(Self.blockBits))].load(ordering: .acquiring)
    guard let words = UnsafePointer<Atomic<UInt>>(bitPattern: block) else { return 0 }
    return words[Int(truncatingIfNeeded: index) & (Self.blockCount &- 1)].load(ordering: .acquiring)
  }

  /// Stores `value` if the word is zero. Returns false, and changes nothing, if it has another value already.
  func publish(_ value: UInt, at index: UInt64) -> Bool {
    word(index).pointee.compareExchange(expected: 0, desired: value, ordering: .acquiringAndReleasing)
      .exchanged
  }

  /// Replaces the word at `index` and returns the old value.
  @discardableResult
  func exchange(_ value: UInt, at index: UInt64) -> UInt {
    word(index).pointee.exchange(value, ordering: .acquiringAndReleasing)
  }

  /// Replaces the word at `index` if it is still `old`. Its block must exist: a word was stored there before.
  @inline(__always)
  func replace(_ old: UInt, by new: UInt, at index: UInt64) {
    let block = directory[Int(truncatingIfNeeded: index >> UInt64(Self.blockBits))].load(ordering: .acquiring)
    guard let words = UnsafePointer<Atomic<UInt>>(bitPattern: block) else { return }
    _ = words[Int(truncatingIfNeeded: index) & (Self.blockCount &- 1)]
      .compareExchange(expected: old, desired: new, ordering: .relaxed)
  }

  /// Calls `body` with every word that isn't zero. Only when no other thread uses the table.
  func forEach(_ body: (UInt) -> Void) {
    for index in 0..<limit.pointee.load(ordering: .relaxed) {
      let value = load(index)
      if value != 0 { body(value) }
    }
  }

  /// Gives the memory back. Only when no other thread uses the table.
  func deallocate() {
    let blocks = (Int(limit.pointee.load(ordering: .relaxed)) + Self.blockCount - 1) >> Self.blockBits
    for block in 1..<max(1, blocks) {
      if let words = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: directory[block].load(ordering: .relaxed))
      {
        munmap(words, Self.blockByteCount)
      }
    }
    memory.release()
    limit.deinitialize(count: 1)
    limit.deallocate()
  }

  private func word(_ index: UInt64) -> UnsafeMutablePointer<Atomic<UInt>> {
    if index >= Self.count { fatalError("an index past the end of an AtomicTable") }
    if index >= limit.pointee.load(ordering: .relaxed) { limit.pointee.max(index + 1, ordering: .relaxed) }
    let entry = directory + Int(index >> UInt64(Self.blockBits))
    var block = entry.pointee.load(ordering: .acquiring)
    if block == 0 {
      let isFirst = index < Self.blockCount
      let fresh =
        isFirst ? firstBlock : Self.block(in: AnonymousMemory.map(byteCount: Self.blockByteCount))
      let result = entry.pointee.compareExchange(
        expected: 0,
        desired: UInt(bitPattern: fresh),
        ordering: .acquiringAndReleasing
      )
      if result.exchanged {
        block = UInt(bitPattern: fresh)
      } else {
        if !isFirst { munmap(fresh, Self.blockByteCount) }
        block = result.original
      }
    }
    // The word was just found to be, or made, a block's address.
    let words = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: block).unsafelyUnwrapped
    return words + (Int(truncatingIfNeeded: index) & (Self.blockCount - 1))
  }

  private static func block(in memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt>> {
    memory.bindMemory(to: Atomic<UInt>.self, capacity: blockCount)
  }
}
