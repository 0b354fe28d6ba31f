import PageStore

/// The expected contents of a store after a commit.
public struct StoreState: Sendable {
  /// The trees by name.
  public var trees: [String: SortedArrayOracle] = [:]

  public init() {}
}

/// A store's commits, with all entries of all trees after each.
public typealias StoreModel = CommitHistory<StoreState>

extension CommitHistory<StoreState> {
  /// A store without trees.
  public init() { self.init(StoreState()) }

  /// Whether the newest commit left everything as it was.
  public var newestChangesNothing: Bool {
    guard commits.count > 1 else { return true }
    return state.trees.mapValues(\.digest) == commits[commits.count - 2].state.trees.mapValues(\.digest)
  }
}
