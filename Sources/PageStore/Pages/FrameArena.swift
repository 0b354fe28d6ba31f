import Glibc
import Synchronization

/// Memory for pages: frames of one page each, numbered from 1, carved from slabs that are never moved.
///
/// A frame's address is one load and a shift away from its number. Allocation and release are safe from any
/// thread; whoever releases a frame has made sure that nobody reads it.
final class FrameArena: Sendable {
  private struct State {
    var free: [UInt32] = []
    var next: UInt32 = 1
  }

  private let geometry: PageGeometry
  private let slabs: AtomicTable
  private let state = Mutex(State())

  private static let slabShift = 21
  static let slabByteCount = 1 << slabShift

  init(geometry: PageGeometry) {
    self.geometry = geometry
    slabs = AtomicTable()
  }

  deinit {
    slabs.forEach { munmap(UnsafeMutableRawPointer(bitPattern: $0), Self.slabByteCount) }
    slabs.deallocate()
  }

  /// The address of an allocated frame.
  @inline(__always)
  func address(_ frame: UInt64) -> UnsafeMutableRawPointer {
    let shift = UInt64(Self.slabShift &- geometry.pageShift)
    let slab = slabs.load(frame >> shift)
    let offset = Int(truncatingIfNeeded: frame & ((1 << shift) &- 1)) &<< geometry.pageShift
    // A frame's slab is there before its number is handed out.
    return UnsafeMutableRawPointer(bitPattern: slab).unsafelyUnwrapped + offset
  }

  /// A frame whose bytes are undefined.
  func allocate() -> UInt64 {
    let frame = state.withLock { state in
      if let frame = state.free.popLast() { return frame }
      defer { state.next += 1 }
      addSlabIfNeeded(for: UInt64(state.next))
      return state.next
    }
    return UInt64(frame)
  }

  /// Takes frames back.
  func free(_ frames: some Sequence<UInt64>) {
    state.withLock { state in
      state.free.append(contentsOf: frames.lazy.map { UInt32(truncatingIfNeeded: $0) })
    }
  }

  /// Bytes of frames that are in use.
  var usedByteCount: Int {
    state.withLock { (Int($0.next) - 1 - $0.free.count) << geometry.pageShift }
  }

  /// Called with the lock held, so a slab is mapped once.
  private func addSlabIfNeeded(for frame: UInt64) {
    let index = frame >> UInt64(Self.slabShift - geometry.pageShift)
    guard slabs.load(index) == 0 else { return }
    let slab = AnonymousMemory.mapAligned(byteCount: Self.slabByteCount)
    // The first slab stays in small pages: a small store shouldn't take two megabytes.
    if index > 0 { madvise(slab, Self.slabByteCount, MADV_HUGEPAGE) }
    slabs.exchange(UInt(bitPattern: slab), at: index)
  }
}
