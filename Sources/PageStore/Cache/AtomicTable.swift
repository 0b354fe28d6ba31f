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
  /// One more than the highest index at which a word was ever stored.
  private let limit: UnsafeMutablePointer<Atomic<UInt64>>

  private static let blockBits = 16
  private static let blockCount = 1 << blockBits
  /// Words in the table.
  static let count: UInt64 = 1 << 32

  init() {
    directory = Self.makeBlock()
    limit = .allocate(capacity: 1)
    limit.initialize(to: Atomic(0))
  }

  /// The word at `index`, or zero when nothing was ever stored there.
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
    for block in 0..<blocks {
      if let words = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: directory[block].load(ordering: .relaxed))
      {
        munmap(words, Self.blockCount * MemoryLayout<UInt>.size)
      }
    }
    munmap(directory, Self.blockCount * MemoryLayout<UInt>.size)
    limit.deinitialize(count: 1)
    limit.deallocate()
  }

  private func word(_ index: UInt64) -> UnsafeMutablePointer<Atomic<UInt>> {
    if index >= Self.count { fatalError("an index past the end of an AtomicTable") }
    if index >= limit.pointee.load(ordering: .relaxed) { limit.pointee.max(index + 1, ordering: .relaxed) }
    let entry = directory + Int(index >> UInt64(Self.blockBits))
    var block = entry.pointee.load(ordering: .acquiring)
    if block == 0 {
      let fresh = Self.makeBlock()
      let result = entry.pointee.compareExchange(
        expected: 0,
        desired: UInt(bitPattern: fresh),
        ordering: .acquiringAndReleasing
      )
      if result.exchanged {
        block = UInt(bitPattern: fresh)
      } else {
        munmap(fresh, Self.blockCount * MemoryLayout<UInt>.size)
        block = result.original
      }
    }
    // The word was just found to be, or made, a block's address.
    let words = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: block).unsafelyUnwrapped
    return words + (Int(truncatingIfNeeded: index) & (Self.blockCount - 1))
  }

  private static func makeBlock() -> UnsafeMutablePointer<Atomic<UInt>> {
    AnonymousMemory.map(byteCount: blockCount * MemoryLayout<UInt>.size)
      .bindMemory(to: Atomic<UInt>.self, capacity: blockCount)
  }
}

/// Zeroed memory straight from the kernel. It takes no room until it is touched.
enum AnonymousMemory {
  /// Maps `byteCount` bytes. Running out of address space stops the process, as it does everywhere in Swift.
  static func map(byteCount: Int) -> UnsafeMutableRawPointer {
    let address = mmap(
      nil,
      byteCount,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0
    )
    guard let address, address != MAP_FAILED else { fatalError("out of memory") }
    return address
  }

  /// Maps `byteCount` bytes at an address that is a multiple of `byteCount`, so that the kernel can use huge
  /// pages.
  static func mapAligned(byteCount: Int) -> UnsafeMutableRawPointer {
    let address = map(byteCount: 2 * byteCount)
    let misalignment = Int(bitPattern: address) & (byteCount - 1)
    let lead = misalignment == 0 ? 0 : byteCount - misalignment
    if lead > 0 { munmap(address, lead) }
    if byteCount > lead { munmap(address + lead + byteCount, byteCount - lead) }
    return address + lead
  }
}
