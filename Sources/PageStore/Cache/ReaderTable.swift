import Glibc
import Synchronization

/// Who is reading pages at this moment: what eviction asks before it gives memory to another page.
///
/// Readers take no lock and wait for nobody. Each has a slot of its own, and protects what it reads in two ways:
///
/// - Between ``Reader/begin()`` and ``Reader/end(visiting:)`` whatever was reachable at the start stays where it is. The
///   slot holds the epoch at which the reader began; memory that was taken out of reach in epoch *e* may be used again when
///   no reader is left that began in *e* or before (epoch-based reclamation: K. Fraser, Practical lock-freedom, 2004).
///   That is for a walk down a tree.
/// - A page, and a value's buffer, whose addresses the slot names stay as long as it does (hazard pointers: M. Michael, Hazard
///   Pointers, 2004). That is for a cursor's leaf, and a value that is in somebody's hands: they are held for as long as a
///   program likes, and hold up nothing but themselves.
final class ReaderTable: Sendable {
  // Safety: blocks are only added, their words are only touched atomically, and they are given back with the table, which
  // the store keeps as long as anybody reads.
  nonisolated(unsafe) private let first: UnsafeMutablePointer<ReaderSlot>

  /// Slots in a block, the first of which leads to the next block.
  private static let blockCount = 256
  private static let blockByteCount = blockCount * MemoryLayout<ReaderSlot>.stride

  init() {
    first = Self.makeBlock(epoch: nil)
  }

  deinit {
    var block: UnsafeMutablePointer<ReaderSlot>? = first
    while let current = block {
      block = current.pointee.nextBlock
      munmap(current, Self.blockByteCount)
    }
  }

  private static func makeBlock(
    epoch: UnsafeMutablePointer<ReaderSlot>?
  ) -> UnsafeMutablePointer<ReaderSlot> {
    let block = AnonymousMemory.map(byteCount: blockByteCount)
      .bindMemory(to: ReaderSlot.self, capacity: blockCount)
    for index in 0..<blockCount { (block + index).initialize(to: ReaderSlot(clock: epoch ?? block)) }
    // The first slot of the first block is the clock that all look at.
    if epoch == nil { block.pointee.state.store(ReaderSlot.firstEpoch, ordering: .releasing) }
    return block
  }

  // MARK: Readers

  /// A reader that has begun. It ends with ``Reader/leave(visiting:)``.
  @inline(__always)
  func enter() -> Reader {
    // Threads begin to look at different places, and mostly find their slot free, and in their processor's cache.
    let thread = UInt64(pthread_self()) >> 12
    let home = Int(truncatingIfNeeded: (thread &* 0x9E37_79B9_7F4A_7C15) >> 40) % (Self.blockCount &- 1) &+ 1
    let slot = first + home
    return Reader.entering(slot) ?? enterElsewhere(from: home)
  }

  @inline(never)
  private func enterElsewhere(from home: Int) -> Reader {
    var block = first
    while true {
      for distance in 1..<(Self.blockCount - 1) {
        let index = (home - 1 + distance) % (Self.blockCount - 1) + 1
        if let reader = Reader.entering(block + index) { return reader }
      }
      block = block.pointee.nextBlock ?? addBlock(after: block)
    }
  }

  private func addBlock(after block: UnsafeMutablePointer<ReaderSlot>) -> UnsafeMutablePointer<ReaderSlot> {
    let fresh = Self.makeBlock(epoch: first)
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

  /// Ends the epoch in which memory was taken out of reach, and returns it.
  func endEpoch() -> UInt64 {
    first.pointee.state.add(1, ordering: .sequentiallyConsistent).oldValue
  }

  /// What readers protect now, and what memory that is put out of reach from now on has nothing to do with.
  func protection() -> Protection {
    ReaderFence.order()
    var protection = Protection()
    forEachSlot { slot in
      // The epoch before the addresses: a reader names them before its section ends.
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
    /// The epoch of the reader that began first, of those that haven't ended.
    var oldestEpoch = UInt64.max
    /// What readers name.
    var addresses: Set<UInt> = []

    /// Whether nobody can be reading memory that was taken out of reach in `epoch`.
    func allowsReuse(of address: UInt, retiredIn epoch: UInt64) -> Bool {
      epoch < oldestEpoch && !addresses.contains(address)
    }
  }

  /// Pages that readers have looked at since the table was made.
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

/// One reader's line of memory: 64 bytes that no other reader writes to.
struct ReaderSlot: ~Copyable {
  /// Whose it is, and since which epoch the owner reads.
  let state = Atomic<UInt64>(Self.free)
  /// Addresses that the owner protects; 0 for none.
  let page = Atomic<UInt>(0)
  let value = Atomic<UInt>(0)
  /// Pages that its owners have looked at.
  let visits = Atomic<UInt64>(0)
  /// The slot whose state is the current epoch.
  let clock: UnsafeMutablePointer<ReaderSlot>
  private let padding: (UInt64, UInt64, UInt64) = (0, 0, 0)

  init(clock: UnsafeMutablePointer<ReaderSlot>) { self.clock = clock }

  static let free: UInt64 = 0
  /// Owned by a reader that is between two walks.
  static let idle: UInt64 = 1
  static let firstEpoch: UInt64 = 2

  /// Of a block's first slot: where the next block is.
  var nextBlock: UnsafeMutablePointer<ReaderSlot>? {
    UnsafeMutablePointer(bitPattern: page.load(ordering: .acquiring))
  }
}

/// A reader of pages: the owner of a slot. A plain address; whoever made it calls ``leave(visiting:)`` once.
struct Reader {
  private let slot: UnsafeMutablePointer<ReaderSlot>

  /// Takes a slot and begins, if it is free.
  @inline(__always)
  fileprivate static func entering(_ slot: UnsafeMutablePointer<ReaderSlot>) -> Reader? {
    guard slot.pointee.state.load(ordering: .relaxed) == ReaderSlot.free else { return nil }
    let epoch = slot.pointee.clock.pointee.state.load(ordering: .acquiring)
    let result = slot.pointee.state.compareExchange(
      expected: ReaderSlot.free,
      desired: epoch,
      ordering: .sequentiallyConsistent
    )
    guard result.exchanged else { return nil }
    ReaderFence.order()
    return Reader(slot: slot)
  }

  /// From here on, what is reachable stays where it is.
  @inline(__always)
  func begin() {
    let epoch = slot.pointee.clock.pointee.state.load(ordering: .acquiring)
    _ = slot.pointee.state.exchange(epoch, ordering: .sequentiallyConsistent)
    ReaderFence.order()
  }

  /// Nothing stays any longer but what is protected by address.
  @inline(__always)
  func end(visiting count: Int) {
    note(count)
    slot.pointee.state.store(ReaderSlot.idle, ordering: .releasing)
  }

  /// Gives the slot back.
  @inline(__always)
  func leave(visiting count: Int = 0) {
    note(count)
    // Whoever sees that an address isn't named any more must not overtake the last look at what is there.
    slot.pointee.page.store(0, ordering: .releasing)
    slot.pointee.value.store(0, ordering: .releasing)
    slot.pointee.state.store(ReaderSlot.free, ordering: .releasing)
  }

  /// Keeps a page that was reached since ``begin()`` where it is until another takes its place.
  @inline(__always)
  func protect(page: UnsafeRawPointer) {
    slot.pointee.page.store(UInt(bitPattern: page), ordering: .releasing)
  }

  /// The same for the page or buffer that an overflowing value is in.
  @inline(__always)
  func protect(value: UnsafeRawPointer?) {
    slot.pointee.value.store(UInt(bitPattern: value), ordering: .releasing)
  }

  @inline(__always)
  private func note(_ count: Int) {
    // Nobody else adds to it, so that a load and a store do.
    let visits = slot.pointee.visits.load(ordering: .relaxed)
    slot.pointee.visits.store(visits &+ UInt64(truncatingIfNeeded: count), ordering: .relaxed)
  }
}

/// The order between a reader's "I am here" and its first look, and between eviction's "it is gone" and its look at the readers:
/// one of the two sees the other.
enum ReaderFence {
  @inline(__always)
  static func order() {
    // On x86 the exchange that comes before is one already.
    #if !arch(x86_64)
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
  }
}
