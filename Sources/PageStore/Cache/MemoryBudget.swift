/// Bytes of memory that a part of a store may take: a number that the program has chosen, or a share of the
/// memory of the machine.
struct MemoryBudget: Sendable, Hashable {
  /// Nil for a share of the memory of the machine.
  var chosen: Int?

  /// The bytes of the budget. For a share, the first access in a process asks the system for its memory.
  var byteCount: Int { chosen ?? SystemMemory.share }

  /// The least that the budget can be, which is known without asking the system.
  private var leastByteCount: Int { chosen ?? SystemMemory.smallestShare }

  /// Returns whether `count` bytes are more than the budget. A process that reads a few pages doesn't ask the
  /// system for its memory.
  func isExceeded(by count: Int) -> Bool { count > leastByteCount && count > byteCount }

  /// Returns whether the budget is `count` bytes or more.
  func isAtLeast(_ count: Int) -> Bool { leastByteCount >= count || byteCount >= count }
}
