/// A process that has a store open.
public struct StoreProcess: Sendable, Hashable, CustomStringConvertible {
  /// The number of the process.
  public var id: Int32
  /// The name of its command, at most 15 bytes, as the system has it.
  public var command: String

  public var description: String { "process \(id) (\(command))" }
}

extension Store {
  /// The processes that have the store open, this one among them, in order of their numbers: one that writes,
  /// or any number that only read. Processes that /proc doesn't show to this user are missing. Empty for a
  /// store in memory. O(open files of all processes).
  ///
  /// What the snapshots of other processes keep isn't known, and needn't be: nobody writes meanwhile.
  public func processes() throws(StoreError) -> [StoreProcess] {
    try checkOpen()
    return shared.registration.map(FileLock.holders) ?? []
  }
}
