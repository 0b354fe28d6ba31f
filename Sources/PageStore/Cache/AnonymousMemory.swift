import Glibc
import Synchronization

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

/// One mapping of zeroed memory, of which several objects take parts: mapping memory is a large part of the
/// time in which a store is opened. The mapping is removed with its last reference, so each object that has a
/// part keeps a reference.
final class SharedMapping: Sendable {
  // Safety: the address never changes. Each part has one owner, who synchronises its use.
  nonisolated(unsafe) private let start: UnsafeMutableRawPointer
  private let byteCount: Int
  /// Bytes from the start that were taken.
  private let takenByteCount = Atomic(0)

  /// The alignment of parts: a cache line.
  private static let alignment = 64

  /// Maps memory for parts of `byteCount` bytes in all.
  init(byteCount: Int) {
    self.byteCount = byteCount
    start = AnonymousMemory.map(byteCount: byteCount)
  }

  deinit { munmap(start, byteCount) }

  /// Takes the next part. Its address is a multiple of `alignment`; the bytes before it are lost.
  func take(byteCount: Int, alignment: Int = SharedMapping.alignment) -> UnsafeMutableRawPointer {
    while true {
      let taken = takenByteCount.load(ordering: .relaxed)
      let part = (start + taken).alignedUp(toMultipleOf: alignment)
      let end = part + byteCount - start
      if end > self.byteCount { fatalError("a mapping is too small for its parts") }
      let result = takenByteCount.compareExchange(expected: taken, desired: end, ordering: .relaxed)
      if result.exchanged { return part }
    }
  }
}
