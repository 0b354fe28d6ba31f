import Glibc
import Synchronization

/// The readers of pages at this moment. Eviction consults it before it reuses the memory of a page.
///
/// Readers take no lock and never block. Each has a slot of its own, and protects what it reads in two ways:
///
/// - Between ``Reader/begin()`` and ``Reader/end(visiting:)`` all memory that was reachable at the start
///   stays. The slot holds the epoch at which the reader began; memory that was taken out of reach in epoch
///   *e* may be reused when no reader is left that began in *e* or before (epoch-based reclamation: K.
///   Fraser, Practical lock-freedom, 2004). This is for a walk down a tree.
/// - A page and a value's buffer stay while the slot has their addresses (hazard pointers: M. Michael, Hazard
///   Pointers, 2004). This is for the leaf of a cursor, and for a value that a program is using: both may be
///   held for long, and keep no other memory from being reused.
final class ReaderTable: Sendable {
  // Safety: blocks are only added, their words are only touched atomically, and they are freed with the
  // table, which the store keeps as long as there are readers.
  nonisolated(unsafe) private let first: UnsafeMutablePointer<ReaderSlot>
  /// The memory of the first block.
  private let memory: SharedMapping

  /// Slots in a block. The first slot of a block leads to the next block.
  private static let blockCount = 256
  private static let blockByteCount = blockCount * MemoryLayout<ReaderSlot>.stride

  /// Bytes that a table needs of a mapping.
  static let mappedByteCount = blockByteCount

  /// - Parameter memory: the mapping of which the table takes ``mappedByteCount`` bytes.
  init(in memory: SharedMapping = SharedMapping(byteCount: mappedByteCount)) {
    self.memory = memory
    first = Self.block(in: memory.take(byteCount: Self.blockByteCount))
    // The first slot of the first block is the clock of all readers.
    first.pointee.state.store(ReaderSlot.firstEpoch, ordering: .releasing)
  }

  deinit {
    var block = first.pointee.nextBlock
    while let current = block {
      block = current.pointee.nextBlock
      munmap(current, Self.blockByteCount)
    }
  }

  /// Returns a block of free slots in zeroed memory. A free slot is all zeros, so the memory isn't touched
  /// before a reader takes a slot.
  private static func block(in memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<ReaderSlot> {
    memory.bindMemory(to: ReaderSlot.self, capacity: blockCount)
  }

  // MARK: Readers

  /// Returns a reader that has begun. The caller ends it with ``Reader/leave(visiting:)``.
  @inline(__always)
  func enter() -> Reader {
    // Threads start their search at different slots, and mostly find a slot that is free and in their
    // processor's cache.
    let thread = UInt64(pthread_self()) >> 12
    let home = Int(truncatingIfNeeded: (thread &* 0x9E37_79B9_7F4A_7C15) >> 40) % (Self.blockCount &- 1) &+ 1
    let slot = first + home
    return Reader.entering(slot, clock: first) ?? enterElsewhere(from: home)
  }

  @inline(never)
  private func enterElsewhere(from home: Int) -> Reader {
    var block = first
    while true {
      for distance in 1..<(Self.blockCount - 1) {
        let index = (home - 1 + distance) % (Self.blockCount - 1) + 1
        if let reader = Reader.entering(block + index, clock: first) { return reader }
      }
      block = block.pointee.nextBlock ?? addBlock(after: block)
    }
  }

  private func addBlock(after block: UnsafeMutablePointer<ReaderSlot>) -> UnsafeMutablePointer<ReaderSlot> {
    let fresh = Self.block(in: AnonymousMemory.map(byteCount: Self.blockByteCount))
    let result = block.pointee.page.compareExchange(
      expected: 0,
      desired: UInt(bitPattern: fresh),
      ordering: .acquiringAndReleasing
    )
    guard !result.exchanged, let other = UnsafeMutablePointer<ReaderSlot>(bitPattern: result.original) else {
      return fresh
    }
    munmap(fresh, Self.blockByteCount)
    return other
  }

  // MARK: Reclamation

  /// Ends the current epoch, in which the caller has taken memory out of reach, and returns it.
  func endEpoch() -> UInt64 {
    first.pointee.state.add(1, ordering: .sequentiallyConsistent).oldValue
  }

  /// Returns the epoch and the addresses that readers protect at this moment. The result holds only for
  /// memory that was taken out of reach before the call.
  func protection() -> Protection {
    ReaderFence.order()
    var protection = Protection()
    forEachSlot { slot in
      // The epoch is read before the addresses, because a reader stores the addresses before its section
      // ends.
      let state = slot.pointee.state.load(ordering: .sequentiallyConsistent)
      guard state != ReaderSlot.free else { return }
      if state >= ReaderSlot.firstEpoch { protection.oldestEpoch = min(protection.oldestEpoch, state) }
      for address in [
        slot.pointee.page.load(ordering: .acquiring), slot.pointee.value.load(ordering: .acquiring),
      ]
      where address != 0 {
        protection.addresses.insert(address)
      }
    }
    return protection
  }

  struct Protection {
    /// The lowest epoch of a reader that hasn't ended.
    var oldestEpoch = UInt64.max
    /// Addresses that readers protect.
    var addresses: Set<UInt> = []

    /// Returns true if no reader can be reading memory at `address` that was taken out of reach in `epoch`.
    func allowsReuse(of address: UInt, retiredIn epoch: UInt64) -> Bool {
      epoch < oldestEpoch && !addresses.contains(address)
    }
  }

  /// The number of pages that readers have visited since the table was made.
  var visitCount: UInt64 {
    var count: UInt64 = 0
    forEachSlot { count &+= $0.pointee.visits.load(ordering: .relaxed) }
    return count
  }

  private func forEachSlot(_ body: (UnsafeMutablePointer<ReaderSlot>) -> Void) {
    var block: UnsafeMutablePointer<ReaderSlot>? = first
    while let current = block {
      for index in 1..<Self.blockCount { body(current + index) }
      block = current.pointee.nextBlock
    }
  }
}

/// The slot of one reader: a cache line of 64 bytes that no other reader writes to. A slot is never
/// initialised: it begins as zeros.
struct ReaderSlot: ~Copyable {
  /// ``free``, ``idle``, or the epoch at which the owner began to read.
  let state: Atomic<UInt64>
  /// Addresses that the owner protects; 0 for none.
  let page: Atomic<UInt>
  let value: Atomic<UInt>
  /// The number of pages that the owners of the slot have visited.
  let visits: Atomic<UInt64>
  /// The address of the slot whose state is the current epoch. Each owner stores it.
  let clock: Atomic<UInt>
  private let padding: (UInt64, UInt64, UInt64)

  static let free: UInt64 = 0
  /// Owned by a reader that is between two walks.
  static let idle: UInt64 = 1
  static let firstEpoch: UInt64 = 2

  /// The next block; only for the first slot of a block.
  var nextBlock: UnsafeMutablePointer<ReaderSlot>? {
    UnsafeMutablePointer(bitPattern: page.load(ordering: .acquiring))
  }
}

/// A reader of pages: the owner of a slot. A plain address; the code that made it calls ``leave(visiting:)``
/// once.
struct Reader {
  private let slot: UnsafeMutablePointer<ReaderSlot>

  /// Takes the slot and begins to read, if the slot is free.
  @inline(__always)
  fileprivate static func entering(
    _ slot: UnsafeMutablePointer<ReaderSlot>,
    clock: UnsafeMutablePointer<ReaderSlot>
  ) -> Reader? {
    guard slot.pointee.state.load(ordering: .relaxed) == ReaderSlot.free else { return nil }
    let epoch = clock.pointee.state.load(ordering: .acquiring)
    let result = slot.pointee.state.compareExchange(
      expected: ReaderSlot.free,
      desired: epoch,
      ordering: .sequentiallyConsistent
    )
    guard result.exchanged else { return nil }
    ReaderFence.order()
    slot.pointee.clock.store(UInt(bitPattern: clock), ordering: .relaxed)
    return Reader(slot: slot)
  }

  /// Begins a section: memory that is reachable now stays until its end.
  @inline(__always)
  func begin() {
    // The owner has stored the address.
    let clock = UnsafePointer<ReaderSlot>(bitPattern: slot.pointee.clock.load(ordering: .relaxed))
    let epoch = clock.unsafelyUnwrapped.pointee.state.load(ordering: .acquiring)
    _ = slot.pointee.state.exchange(epoch, ordering: .sequentiallyConsistent)
    ReaderFence.order()
  }

  /// Ends a section: only memory that is protected by address stays.
  @inline(__always)
  func end(visiting count: Int) {
    note(count)
    slot.pointee.state.store(ReaderSlot.idle, ordering: .releasing)
  }

  /// Frees the slot.
  @inline(__always)
  func leave(visiting count: Int = 0) {
    note(count)
    // Releasing: a thread that sees that the address was removed must also see that all reads of the memory
    // are over.
    slot.pointee.page.store(0, ordering: .releasing)
    slot.pointee.value.store(0, ordering: .releasing)
    slot.pointee.state.store(ReaderSlot.free, ordering: .releasing)
  }

  /// Protects a page that was reached since ``begin()``, until the slot protects another.
  @inline(__always)
  func protect(page: UnsafeRawPointer) {
    slot.pointee.page.store(UInt(bitPattern: page), ordering: .releasing)
  }

  /// Protects the page or buffer of an overflowing value, until the slot protects another; nil protects none.
  @inline(__always)
  func protect(value: UnsafeRawPointer?) {
    slot.pointee.value.store(UInt(bitPattern: value), ordering: .releasing)
  }

  @inline(__always)
  private func note(_ count: Int) {
    // No other thread writes this word, so a load and a store are enough.
    let visits = slot.pointee.visits.load(ordering: .relaxed)
    slot.pointee.visits.store(visits &+ UInt64(truncatingIfNeeded: count), ordering: .relaxed)
  }
}

/// The fence between two steps of a reader, and between two steps of eviction. A reader stores its epoch,
/// then reads its first page. Eviction removes a page, then looks at the readers. With the fence, the reader
/// sees the removal, or eviction sees the reader, or both.
enum ReaderFence {
  @inline(__always)
  static func order() {
    // On x86 the atomic exchange before it is already a fence.
    #if !arch(x86_64)
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
  }
}
