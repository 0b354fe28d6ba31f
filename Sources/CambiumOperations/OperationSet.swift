import Foundation
import Synchronization

/// A set of operations, by identity. It holds them weakly.
final class OperationSet: Sendable {
  private struct Entry: Sendable {
    weak var operation: Operation?
  }

  private struct Table {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The count of entries above which entries of deallocated operations are removed.
    var limit = 64
  }

  private let table = Mutex(Table())

  func contains(_ operation: Operation) -> Bool {
    table.withLock { $0.entries[ObjectIdentifier(operation)]?.operation === operation }
  }

  /// Inserts an operation, and returns true if the set didn't contain it.
  @discardableResult
  func insert(_ operation: Operation) -> Bool {
    table.withLock { table in
      let key = ObjectIdentifier(operation)
      // A deallocated operation may have had the same address.
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
