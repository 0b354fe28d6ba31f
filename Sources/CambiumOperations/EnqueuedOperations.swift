import Foundation
import Synchronization

/// The operations that a chain has put into a queue and that can't note it by themselves: those that are no ``ConcurrentOperation``.
///
/// A queue refuses an operation that is in another, or has been, by ending the program.
final class EnqueuedOperations: Sendable {
  private struct Entry: Sendable {
    weak var operation: Operation?
  }

  private struct Table {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// Entries whose operations are gone are removed when there are more than this.
    var limit = 64
  }

  private let table = Mutex(Table())

  /// True for one call for an operation.
  func begin(_ operation: Operation) -> Bool {
    table.withLock { table in
      let key = ObjectIdentifier(operation)
      // Another operation may have had the address before.
      if table.entries[key]?.operation === operation { return false }
      if table.entries.count >= table.limit {
        table.entries = table.entries.filter { $0.value.operation != nil }
        table.limit = max(64, 2 * table.entries.count)
      }
      table.entries[key] = Entry(operation: operation)
      return true
    }
  }
}
