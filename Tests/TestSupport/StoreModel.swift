import PageStore

/// What a store must hold after a commit.
public struct StoreState: Sendable {
  /// The trees by name.
  public var trees: [String: SortedArrayOracle] = [:]

  public init() {}
}

/// What a store has been told, and what it has promised: the oracle of crashes.
///
/// After a crash the store must show exactly the state after one of the commits, and not an earlier one than
/// ``required``.
public struct StoreModel: Sendable {
  /// A transaction that was tried.
  public struct Commit: Sendable {
    public var durability: Durability
    public var isAcknowledged: Bool
    public var state: StoreState
  }

  /// By commit number; the first is the empty store.
  public private(set) var commits: [Commit]
  /// The oldest commit a crash may leave the store at.
  public private(set) var required: UInt64 = 0
  /// What told the store from all others when it was first opened. It stays the same.
  public var uuid: StoreUUID?

  public init() {
    commits = [Commit(durability: .full, isAcknowledged: true, state: StoreState())]
  }

  /// The newest commit, acknowledged or not.
  public var newest: UInt64 { UInt64(commits.count - 1) }
  /// The state after the newest commit.
  public var state: StoreState { commits[commits.count - 1].state }

  /// The newest commit that was acknowledged.
  public var newestAcknowledged: UInt64 { UInt64(commits.lastIndex { $0.isAcknowledged } ?? 0) }

  /// Whether the newest commit left everything as it was.
  public var newestChangesNothing: Bool {
    guard commits.count > 1 else { return true }
    return state.trees.mapValues(\.digest) == commits[commits.count - 2].state.trees.mapValues(\.digest)
  }

  /// Notes a commit that is going to be tried, before the store hears of it.
  public mutating func begin(_ state: StoreState, durability: Durability) {
    commits.append(Commit(durability: durability, isAcknowledged: false, state: state))
  }

  /// Notes that a commit was acknowledged, after it others may have begun. A full one vouches for every commit before it.
  public mutating func acknowledge(_ commit: UInt64) {
    commits[Int(commit)].isAcknowledged = true
    if commits[Int(commit)].durability == .full { requireAtLeast(commit) }
  }

  /// Notes that the newest commit was aborted: its number will be used again.
  public mutating func abort() { commits.removeLast() }

  /// Notes that everything up to now was made durable: a checkpoint, a close, or a reader's sight of it.
  public mutating func requireEverything() { required = newest }

  /// Notes that everything up to a commit was made durable.
  public mutating func requireAtLeast(_ commit: UInt64) { required = max(required, commit) }

  /// Requires all but the newest commit: nothing in the file vouches for the last one until another follows.
  public mutating func requireAllButNewest() { required = newest == 0 ? 0 : newest - 1 }

  /// Requires no more than any one of the commits.
  public mutating func requireNothing() { required = 0 }

  /// The model after a crash that left the store at `number`: what came after never happened.
  public func recovered(at number: UInt64) -> StoreModel {
    var model = self
    model.commits.removeLast(commits.count - 1 - Int(number))
    model.required = number
    for index in model.commits.indices { model.commits[index].isAcknowledged = true }
    return model
  }
}
