import Synchronization

/// The numbers of objects that are in no context, given when their IDs are first asked for.
enum ProvisionalNumbers {
  private static let last = Atomic<UInt64>(0)

  /// Returns the next number, from 1; none is given twice while the process lives.
  static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
