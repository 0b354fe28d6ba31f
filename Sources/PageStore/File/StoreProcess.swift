/// A process that has a store open.
public struct StoreProcess: Sendable, Hashable, CustomStringConvertible {
  /// The number of the process.
  public var id: Int32
  /// The name of its command, at most 15 bytes, as the system has it.
  public var command: String

  /// The number and the command, as messages name the process.
  public var description: String { "process \(id) (\(command))" }
}

extension Store {
  /// Returns the processes that have the store open, in order of their numbers: this one and, if it only
  /// reads, others that read. A child that was forked while the store was open is one of them until it calls
  /// `exec`. Processes that /proc doesn't show to this user are missing; where /proc isn't mounted, and for a
  /// store in memory, the list is empty. O(open files of all processes).
  public func processes() throws(StoreError) -> [StoreProcess] {
    try checkOpen()
    return shared.registration.map(FileLock.holders) ?? []
  }
}
