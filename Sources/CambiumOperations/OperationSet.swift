import Foundation
import Synchronization

/// A set of operations, by identity. It holds them weakly.
final class OperationSet: Sendable {
  private struct Entry: Sendable {
    weak var operation: Operation?
  }

  private struct Table {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// Entries whose operations are gone are removed when there are more than this.
    var limit = 64
  }

  private let table = Mutex(Table())

  func contains(_ operation: Operation) -> Bool {
    table.withLock { $0.entries[ObjectIdentifier(operation)]?.operation === operation }
  }

  /// Returns whether the operation was not there.
  @discardableResult
  func insert(_ operation: Operation) -> Bool {
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
