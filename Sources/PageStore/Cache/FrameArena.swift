import Glibc
import Synchronization

/// Memory for pages: frames of one page each, numbered from 1, carved from slabs that are never moved.
///
/// A frame's address is one load and a shift away from its number. Allocation and release are safe from any
/// thread. The caller that releases a frame has made sure that no reader uses it.
final class FrameArena: Sendable {
  private struct State {
    var free: [UInt32] = []
    var next: UInt32 = 1
    /// Slabs with frames whose memory was given back to the system.
    var sparseSlabs: Set<Int> = []
    /// The slots of the slabs in ``slabs``, in order of the slabs' addresses.
    var slots: [Int] = []
  }

  let geometry: PageGeometry
  // Safety: allocated for the arena's life, its words only touched atomically.
  /// Addresses of the slabs.
  nonisolated(unsafe) let slabs: UnsafeMutablePointer<Atomic<UInt>>
  private let state = Mutex(State())
  /// The memory of `slabs` and of the first slab.
  private let memory: SharedMapping

  private static let slabShift = 21
  static let slabByteCount = 1 << slabShift
  /// The most slabs: 512 GiB.
  private static let slabCount = 1 << 18
  private static let slabsByteCount = slabCount * MemoryLayout<UInt>.size
  /// Bytes that an arena needs of a mapping: the first slab is aligned to its size.
  static let mappedByteCount = slabsByteCount + 2 * slabByteCount

  /// True if a frame's memory can be given back to the system without that of its neighbours. On some
  /// machines the system's pages are larger than a store's.
  let canGiveBack: Bool

  /// - Parameters:
  ///   - memory: the mapping of which the arena takes ``mappedByteCount`` bytes.
  ///   - systemPageSize: bytes in a page of the system.
  init(
    geometry: PageGeometry,
    in memory: SharedMapping = SharedMapping(byteCount: mappedByteCount),
    systemPageSize: Int = sysconf(Int32(_SC_PAGESIZE))
  ) {
    self.geometry = geometry
    self.memory = memory
    canGiveBack = systemPageSize > 0 && geometry.pageSize % systemPageSize == 0
    slabs = memory.take(byteCount: Self.slabsByteCount)
      .bindMemory(to: Atomic<UInt>.self, capacity: Self.slabCount)
  }

  deinit {
    for index in 1..<Self.slabCount {
      guard let slab = UnsafeMutableRawPointer(bitPattern: slabs[index].load(ordering: .relaxed)) else {
        break
      }
      munmap(slab, Self.slabByteCount)
    }
  }

  var pageSize: Int { geometry.pageSize }

  /// Returns the address of an allocated frame.
  @inline(__always)
  func address(_ frame: UInt64) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(mutating: Self.address(frame, in: slabs, geometry))
  }

  /// Returns the address of an allocated frame of the arena with these slabs.
  @inline(__always)
  static func address(
    _ frame: UInt64,
    in slabs: UnsafePointer<Atomic<UInt>>,
    _ geometry: PageGeometry
  ) -> UnsafeRawPointer {
    let shift = UInt64(truncatingIfNeeded: Self.slabShift &- geometry.pageShift)
    let slab = slabs[Int(truncatingIfNeeded: frame &>> shift)].load(ordering: .acquiring)
    let offset = Int(truncatingIfNeeded: frame & ((1 &<< shift) &- 1)) &<< geometry.pageShift
    // The slab of a frame exists before the frame's number is handed out, and only references in memory hold
    // frame numbers.
    return UnsafeRawPointer(bitPattern: slab).unsafelyUnwrapped + offset
  }

  /// Returns the number of the frame at `page`, which is the address of a frame. Slabs are aligned to their
  /// size.
  func frame(at page: UnsafeRawPointer) -> UInt64 {
    let address = UInt(bitPattern: page)
    let offset = address & UInt(Self.slabByteCount - 1)
    let slot = state.withLock { self.slot(of: address - offset, $0.slots) }
    guard let slot else { fatalError("an address outside of the arena") }
    return UInt64(slot) << UInt64(Self.slabShift - geometry.pageShift) + UInt64(offset)
      >> UInt64(geometry.pageShift)
  }

  /// Returns the slot of the slab at `address`; nil if there is none.
  private func slot(of address: UInt, _ slots: [Int]) -> Int? {
    let rank = rank(of: address, slots)
    guard rank < slots.count, self.address(ofSlab: slots[rank]) == address else { return nil }
    return slots[rank]
  }

  /// Returns the number of slabs below `address`.
  private func rank(of address: UInt, _ slots: [Int]) -> Int {
    slots.indices.partitionPoint { self.address(ofSlab: slots[$0]) >= address }
  }

  private func address(ofSlab slot: Int) -> UInt { slabs[slot].load(ordering: .relaxed) }

  /// Allocates a frame, whose bytes are undefined.
  func allocate() -> UInt64 {
    let frame = state.withLock { state in
      if let frame = state.free.popLast() { return frame }
      defer { state.next += 1 }
      addSlabIfNeeded(for: UInt64(state.next), &state)
      return state.next
    }
    return UInt64(frame)
  }

  /// Frees frames.
  func free(_ frames: some Sequence<UInt64>) {
    state.withLock { state in
      state.free.append(contentsOf: frames.lazy.map { UInt32(truncatingIfNeeded: $0) })
    }
  }

  /// Gives the memory of a frame back to the system, which ``canGiveBack`` must allow. The frame stays
  /// allocated, and reads as zeros.
  func giveBack(_ frame: UInt64) {
    if !canGiveBack { fatalError("a frame's memory can't be given back without that of its neighbours") }
    let index = Int(frame >> UInt64(Self.slabShift - geometry.pageShift))
    state.withLock { state in
      guard state.sparseSlabs.insert(index).inserted else { return }
      // The kernel would sooner or later fill the holes again, to merge the pages between them into huge
      // pages.
      let slab = UnsafeMutableRawPointer(bitPattern: slabs[index].load(ordering: .relaxed))
      madvise(slab, Self.slabByteCount, MADV_NOHUGEPAGE)
    }
    madvise(address(frame), pageSize, MADV_DONTNEED)
  }

  /// Bytes in allocated frames.
  var usedByteCount: Int {
    state.withLock { (Int($0.next) - 1 - $0.free.count) << geometry.pageShift }
  }

  /// Called with the mutex of `state` locked, so that a slab is mapped once.
  private func addSlabIfNeeded(for frame: UInt64, _ state: inout State) {
    let index = frame >> UInt64(Self.slabShift - geometry.pageShift)
    if index >= Self.slabCount { fatalError("out of frames") }
    let entry = slabs + Int(index)
    guard entry.pointee.load(ordering: .relaxed) == 0 else { return }
    let slab =
      if index == 0 {
        memory.take(byteCount: Self.slabByteCount, alignment: Self.slabByteCount)
      } else {
        AnonymousMemory.mapAligned(byteCount: Self.slabByteCount)
      }
    // The first slab stays in small pages: a small store shouldn't take two megabytes.
    if index > 0 { madvise(slab, Self.slabByteCount, MADV_HUGEPAGE) }
    let address = UInt(bitPattern: slab)
    state.slots.insert(Int(index), at: rank(of: address, state.slots))
    entry.pointee.store(UInt(bitPattern: slab), ordering: .releasing)
  }
}
