import CLinux
import Synchronization

/// Tells whether the process is still the one that opened a file.
///
/// A forked child inherits descriptors, memory and, with the descriptors, the file's locks; two processes
/// that both act as the writer would ruin a store. So the child's count of forks is increased, and every
/// ``StoreFile`` refuses calls if the count differs from the count at the opening of the file.
enum ForkGuard {
  private static let forks = Atomic<UInt64>(0)

  /// Differs between a process and its forked children.
  static var generation: UInt64 {
    _ = installed
    return forks.load(ordering: .relaxed)
  }

  /// True if the functions that run at a fork are installed. The monitors that all stores share are locked
  /// during the fork. So the data that they guard is consistent in the child, and the monitors are unlocked
  /// there.
  private static let installed: Bool = {
    clinux_at_fork(
      {
        ProcessRegistry.shared.lockForFork()
        BackgroundThread.shared.lockForFork()
      },
      {
        BackgroundThread.shared.unlockAfterFork()
        ProcessRegistry.shared.unlockAfterFork()
      },
      {
        BackgroundThread.shared.unlockAfterFork()
        forks.wrappingAdd(1, ordering: .relaxed)
        ProcessRegistry.shared.forgetAfterFork()
      }
    ) == 0
  }()
}
