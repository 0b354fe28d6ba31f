import Foundation
import Synchronization

/// Numbers for the stores that this process has had objects of: a UUID takes sixteen bytes, and an object's state has
/// four to spare.
enum StoreTags {
  private struct State {
    var storeIDs: [UUID] = []
    var tags: [UUID: UInt32] = [:]
  }
  private static let state = Mutex(State())

  /// The number of a store, from 1. The same one every time.
  static func tag(of storeID: UUID) -> UInt32 {
    state.withLock { state in
      if let tag = state.tags[storeID] { return tag }
      state.storeIDs.append(storeID)
      let tag = UInt32(state.storeIDs.count)
      state.tags[storeID] = tag
      return tag
    }
  }

  /// The store of a number; nil for 0.
  static func storeID(_ tag: UInt32) -> UUID? {
    tag == 0 ? nil : state.withLock { $0.storeIDs[Int(tag) - 1] }
  }
}
