import Glibc
import Synchronization

/// Keeps the memory for pages that could be read from the file again within a budget: pages that were read,
/// and leaves that were changed and have been written since.
///
/// Pages are evicted by S3-FIFO (J. Yang and others, FIFO queues are all you need for cache eviction, SOSP
/// 2023): a page that was read starts in a short queue, and moves to the long one if it is looked up a second
/// time. A scan passes through the short queue and leaves the rest of the cache alone. A page that comes back
/// soon after it was evicted goes to the long queue at once. A lookup writes nothing but one bit, and that
/// only once.
///
/// ``ReaderTable`` says how memory is taken back from readers that take no lock.
///
/// A frame that versions refer to keeps its number when it is evicted: only its memory goes back to the
/// system. Its header is marked, and then reads as zeros. So a reader that follows a reference to the frame
/// sees that the page isn't in memory, and reads from the file the page that a checkpoint has written
/// (``StoredPlaces``).
final class PageCache: Sendable {
  private struct State {
    var queues = FrameQueues()
    var ghosts = GhostList()
    var retired = RetiredPages<Evicted>(batchCount: PageCache.batchCount)
    var evictedFrameCount = 0
    var loads: UInt64 = 0
    var evictions: UInt64 = 0
  }

  /// A frame that was taken out of reach.
  private struct Evicted {
    var frame: UInt64
    /// True if versions refer to the frame; then it isn't used for another page.
    var isReferredTo: Bool
  }

  private let budget: MemoryBudget
  /// The number of pages that may stay.
  private var capacity: Int { max(Self.smallestCapacity, budget.byteCount / arena.pageSize) }
  private let arena: FrameArena
  private let table: PageTable
  private let places: StoredPlaces
  private let readers: ReaderTable
  private let state: Mutex<State>

  private static let batchCount = 32
  /// The number of pages in the cache for each page that the short queue may have.
  private static let youngShare = 10
  /// The least capacity, in pages. With a smaller one, pages would be evicted while they are needed.
  private static let smallestCapacity = 16

  init(
    budget: MemoryBudget,
    arena: FrameArena,
    table: PageTable,
    places: StoredPlaces,
    readers: ReaderTable
  ) {
    self.budget = budget
    self.arena = arena
    self.table = table
    self.places = places
    self.readers = readers
    state = Mutex(State())
  }

  // MARK: Adding and dropping

  /// Adds a frame with a page of the file that was just published under its number.
  ///
  /// - Parameter isLoaded: whether the page was read from the file, and not written by a checkpoint.
  func insert(page frame: UInt64, number: UInt64, isLoaded: Bool) {
    state.withLock { state in
      if isLoaded { state.loads += 1 }
      state.queues.append(frame, to: state.ghosts.remove(number) ? .main : .young)
      makeRoom(&state)
    }
  }

  /// Adds leaves that versions refer to and that a checkpoint has written. They were changed recently, so
  /// they are worth more than pages that were read once. If their memory can't be given back, they stay in
  /// memory without being added.
  func insert(written frames: some Sequence<UInt64>) {
    guard arena.canGiveBack else { return }
    state.withLock { state in
      for frame in frames where state.queues.queue(of: frame) == .none {
        header(of: frame).clearUsed()
        state.queues.append(frame, to: .main)
      }
      makeRoom(&state)
    }
  }

  /// Forgets frames that no version refers to any more. They may be reused when this returns.
  func forget(_ frames: [UInt64]) {
    let stored = frames.filter { places.isStored($0) }
    if stored.isEmpty { return }
    state.withLock { state in
      for frame in stored {
        if state.queues.queue(of: frame) == .evicted { state.evictedFrameCount -= 1 }
        state.queues.remove(frame)
        places.clear(frame)
      }
      if state.retired.count > 0 {
        let gone = Set(stored)
        state.retired.removeAll { $0.isReferredTo && gone.contains($0.frame) }
      }
    }
  }

  /// Drops pages of the file that no version refers to any more, so that their memory is reused before memory
  /// that was never touched.
  func drop(_ numbers: some Sequence<UInt64>) {
    state.withLock { state in
      for number in numbers {
        guard let page = table.lookUp(number) else { continue }
        let frame = arena.frame(at: page)
        // A page that was published a moment ago isn't in a queue yet; eviction will drop it.
        guard state.queues.queue(of: frame) != .none else { continue }
        state.queues.remove(frame)
        putOutOfReach(page: frame, number: number, &state)
      }
      sweep(&state)
    }
  }

  // MARK: Eviction

  private func makeRoom(_ state: inout State) {
    while isExceeded(by: state.queues.count(.young) + state.queues.count(.main)) { step(&state) }
    sweep(&state)
  }

  private func isExceeded(by pageCount: Int) -> Bool {
    pageCount > Self.smallestCapacity && budget.isExceeded(by: pageCount * arena.pageSize)
  }

  /// Frees the memory of retired frames that no reader uses any more.
  private func sweep(_ state: inout State) {
    for evicted in state.retired.sweep(readers) {
      if evicted.isReferredTo {
        arena.giveBack(evicted.frame)
      } else {
        arena.free(CollectionOfOne(evicted.frame))
      }
    }
  }

  /// Looks at one page: evicts it, or moves it to the long queue if it was used.
  private func step(_ state: inout State) {
    let isYoung = state.queues.count(.young) * Self.youngShare > capacity || state.queues.count(.main) == 0
    guard let frame = state.queues.oldest(isYoung ? .young : .main) else { return }
    state.queues.remove(frame)
    if takeUsed(frame) {
      state.queues.append(frame, to: .main)
    } else {
      evict(frame, wasYoung: isYoung, &state)
    }
  }

  private func takeUsed(_ frame: UInt64) -> Bool {
    if places.isStored(frame) { return header(of: frame).takeUsed() }
    return table.takeUsed(PageImage(UnsafeRawPointer(arena.address(frame))).number)
  }

  private func evict(_ frame: UInt64, wasYoung: Bool, _ state: inout State) {
    state.evictions += 1
    if places.isStored(frame) {
      header(of: frame).markEvicted()
      state.queues.markEvicted(frame)
      state.evictedFrameCount += 1
      state.retired.insert(Evicted(frame: frame, isReferredTo: true), at: arena.address(frame), readers)
    } else {
      let number = PageImage(UnsafeRawPointer(arena.address(frame))).number
      putOutOfReach(page: frame, number: number, &state)
      if wasYoung { state.ghosts.insert(number, slotCount: capacity) }
    }
  }

  private func putOutOfReach(page frame: UInt64, number: UInt64, _ state: inout State) {
    table.remove(number)
    state.retired.insert(Evicted(frame: frame, isReferredTo: false), at: arena.address(frame), readers)
  }

  private func header(of frame: UInt64) -> FrameHeader { FrameHeader(arena.address(frame)) }

  // MARK: Counters

  struct Statistics {
    /// Pages that count towards the budget.
    var pageCount = 0
    /// Frames that versions refer to and whose memory was given back.
    var evictedFrameCount = 0
    var loads: UInt64 = 0
    var evictions: UInt64 = 0
  }

  /// Bytes of the budget that no page takes.
  var unusedByteCount: Int { max(0, capacity - statistics.pageCount) * arena.pageSize }

  var statistics: Statistics {
    state.withLock { state in
      Statistics(
        pageCount: state.queues.count(.young) + state.queues.count(.main),
        evictedFrameCount: state.evictedFrameCount,
        loads: state.loads,
        evictions: state.evictions
      )
    }
  }
}

/// The parts of a frame's header that have a meaning in memory only, and are written while other threads read
/// the page.
struct FrameHeader {
  private let base: UnsafeMutableRawPointer

  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  // Safety: frames are aligned like pages, and these words are only touched atomically once other threads can
  // see the frame.
  private var use: UnsafeMutablePointer<Atomic<UInt64>> {
    (base + PageHeader.checksum).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  private var flags: UnsafeMutablePointer<Atomic<UInt16>> {
    (base + PageHeader.flags).assumingMemoryBound(to: Atomic<UInt16>.self)
  }

  /// Notes that the page was looked up, in the checksum's field: a frame has no checksum.
  @inline(__always)
  func noteUse() {
    if use.pointee.load(ordering: .relaxed) == 0 { use.pointee.store(1, ordering: .relaxed) }
  }

  func takeUsed() -> Bool { use.pointee.exchange(0, ordering: .relaxed) != 0 }

  func clearUsed() { use.pointee.store(0, ordering: .relaxed) }

  /// Marks the frame as evicted: new readers no longer accept it as its page. Readers that have already
  /// accepted it may continue.
  func markEvicted() {
    flags.pointee.bitwiseOr(PageFlags.evicted.littleEndian, ordering: .sequentiallyConsistent)
  }

  /// Marks a page that was read from the file. No other thread sees it yet.
  func markLoaded() {
    base.storeLittle(base.loadLittle(PageHeader.flags, as: UInt16.self) | PageFlags.loaded, PageHeader.flags)
  }

  /// Clears the marks in a copy that no other thread sees yet. The page may have been evicted after it was
  /// found, and the mark copied with it.
  func clearMarks() {
    let marks = PageFlags.evicted | PageFlags.loaded
    base.storeLittle(base.loadLittle(PageHeader.flags, as: UInt16.self) & ~marks, PageHeader.flags)
  }
}

/// The numbers of recently evicted pages: a hash table of fixed size, in which a new number replaces an older
/// one of the same slot.
struct GhostList {
  private var numbers: [UInt32] = []

  /// - Parameter slotCount: the number of slots of the table, which the first insertion makes.
  mutating func insert(_ number: UInt64, slotCount: Int) {
    if numbers.isEmpty { numbers = Array(repeating: 0, count: slotCount) }
    numbers[slot(of: number)] = UInt32(truncatingIfNeeded: number)
  }

  /// Forgets a number; returns whether it was there.
  mutating func remove(_ number: UInt64) -> Bool {
    if numbers.isEmpty { return false }
    let slot = slot(of: number)
    guard numbers[slot] == UInt32(truncatingIfNeeded: number) else { return false }
    numbers[slot] = 0
    return true
  }

  private func slot(of number: UInt64) -> Int {
    Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 33) % numbers.count
  }
}
