import Glibc

/// The stores that this process has open, by file: opening a file twice gives the same store.
///
/// Entries hold their store weakly. An entry whose store is gone stays until the store's file is closed, so a
/// second opening can tell "on its way out" from "held by somebody else".
// Safety: `entries` is only touched with the monitor's lock held.
final class ProcessRegistry: @unchecked Sendable {
  static let shared = ProcessRegistry()

  private struct Entry {
    weak var store: Store?
    var options: StoreOptions
    var handles: Int
  }

  private let monitor = Monitor()
  private var entries: [PosixFile.Identity: Entry] = [:]

  /// The open store of this file, or the one that `make` opens. Nobody else opens a file meanwhile.
  func store(
    for file: PosixFile.Identity,
    options: StoreOptions,
    path: String,
    make: () throws(StoreError) -> Store
  ) throws(StoreError) -> Store {
    monitor.lock()
    defer { monitor.unlock() }
    while let entry = entries[file] {
      guard let store = entry.store else {
        // Its deinit is running in another thread, and takes the entry out when the lock is free.
        monitor.wait()
        continue
      }
      guard entry.options == options else {
        throw StoreError(
          .storeInUse,
          "this process has the store open with other options",
          context: .init(path: path)
        )
      }
      entries[file]?.handles += 1
      return store
    }
    let store = try make()
    entries[file] = Entry(store: store, options: options, handles: 1)
    return store
  }

  /// One handle less; true if it was the last one, in which case the caller closes the store and then calls
  /// ``remove(_:)``.
  func releaseHandle(of file: PosixFile.Identity) -> Bool {
    monitor.withLock {
      guard let handles = entries[file]?.handles else { return false }
      entries[file]?.handles = handles - 1
      return handles == 1
    }
  }

  /// Forgets a store whose file has been closed.
  func remove(_ file: PosixFile.Identity) {
    monitor.withLock {
      entries[file] = nil
      monitor.wakeAll()
    }
  }

  func lockForFork() { monitor.lock() }
  func unlockAfterFork() { monitor.unlock() }

  /// In the child: the parent's stores are not this process's.
  func forgetAfterFork() {
    entries.removeAll()
    monitor.unlock()
  }
}
