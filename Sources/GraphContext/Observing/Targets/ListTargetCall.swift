/// A call that a ``RecordingListTarget`` has received.
public enum ListTargetCall: Sendable, Hashable {
  /// ``ListTarget/reload()``.
  case reload
  /// ``ListTarget/performBatchUpdates(_:)`` begins.
  case beginBatch
  /// ``ListTarget/performBatchUpdates(_:)`` ends.
  case endBatch
  /// ``ListTarget/deleteSections(_:)``.
  case deleteSections([Int])
  /// ``ListTarget/insertSections(_:)``.
  case insertSections([Int])
  /// ``ListTarget/moveSections(_:)``.
  case moveSections([ListSectionMove])
  /// ``ListTarget/reloadSections(_:)``.
  case reloadSections([Int])
  /// ``ListTarget/deleteItems(at:)``.
  case deleteItems([ListPath])
  /// ``ListTarget/insertItems(at:)``.
  case insertItems([ListPath])
  /// ``ListTarget/moveItems(_:)``.
  case moveItems([ListMove])
  /// ``ListTarget/reconfigureItems(at:)``.
  case reconfigureItems([ListPath])
}
