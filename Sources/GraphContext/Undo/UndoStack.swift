import Predicates

/// The groups that can be undone, or redone, the oldest first.
///
/// Adding one and forgetting the oldest take constant time, on average: a program that saves often keeps hundreds of
/// thousands.
struct UndoStack {
  private var groups: [UndoGroup] = []
  /// The number of groups at the beginning that are forgotten, and empty.
  private var forgotten = 0
  /// The approximate number of bytes that the groups take in memory.
  private var byteCount = 0

  var count: Int { groups.count - forgotten }
  var isEmpty: Bool { count == 0 }
  var last: UndoGroup? { isEmpty ? nil : groups.last }

  mutating func append(_ group: UndoGroup) {
    groups.append(group)
    byteCount += group.byteCount
  }

  mutating func popLast() -> UndoGroup? {
    guard !isEmpty, let group = groups.popLast() else { return nil }
    byteCount -= group.byteCount
    return group
  }

  /// Forgets the oldest groups that are beyond the limits.
  ///
  /// - Parameters:
  ///   - levels: the greatest number of groups; 0 for any number.
  ///   - byteLimit: the number of bytes that all groups may take in memory.
  mutating func trim(levels: Int, byteLimit: Int) {
    while !isEmpty, byteCount > byteLimit || levels > 0 && count > levels { forgetOldest() }
    // Moving the other groups down costs as much as forgetting the same number of groups did.
    if forgotten > groups.count / 2 {
      groups.removeFirst(forgotten)
      forgotten = 0
    }
  }

  /// Forgets the groups up to the last one of which the condition holds. O(groups).
  mutating func forget(throughLast holds: (UndoGroup) -> Bool) {
    guard let last = groups.lastIndex(where: holds) else { return }
    while forgotten <= last { forgetOldest() }
  }

  /// Replaces unified objects by the existing ones among the targets of references that the groups have set. O(groups).
  mutating func redirectReferences(_ unified: [[ObjectNumber: ObjectNumber]], _ schema: ResolvedSchema) {
    for index in groups.indices { groups[index].redirectReferences(unified, schema) }
  }

  private mutating func forgetOldest() {
    byteCount -= groups[forgotten].byteCount
    groups[forgotten] = UndoGroup()
    forgotten += 1
  }
}
