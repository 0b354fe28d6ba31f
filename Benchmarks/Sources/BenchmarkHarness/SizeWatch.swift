import Foundation

/// Samples the size of a folder's files all the time.
// Safety: everything mutable is only touched with the lock held.
package final class SizeWatch: @unchecked Sendable {
  private let lock = NSLock()
  private var largest = 0
  private var isStopped = false

  package init(_ folder: String) {
    let thread = Thread { [weak self] in
      while let self, !self.look(at: folder) { usleep(2_000) }
    }
    thread.start()
  }

  private func look(at folder: String) -> Bool {
    let size = (try? StoredBytes(of: folder).allocated) ?? 0
    return lock.withLock {
      largest = max(largest, size)
      return isStopped
    }
  }

  /// The largest size since the last call.
  package func takeLargest() -> Int {
    lock.withLock {
      defer { largest = 0 }
      return largest
    }
  }

  package func stop() { lock.withLock { isStopped = true } }
}
