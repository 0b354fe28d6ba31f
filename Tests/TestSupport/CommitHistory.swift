import PageStore

/// The commits that a store was asked for, and those that it has acknowledged: the oracle of crashes.
///
/// After a crash the store must show exactly the state after one of the commits, and not an earlier one than
/// ``required``.
public struct CommitHistory<State: Sendable>: Sendable {
  /// A transaction that was tried.
  public struct Commit: Sendable {
    public var durability: Durability
    public var isAcknowledged: Bool
    public var state: State
  }

  /// The commits by their numbers; the first is the empty store.
  public private(set) var commits: [Commit]
  /// The oldest commit a crash may leave the store at.
  public private(set) var required: UInt64 = 0
  /// The identifier of the store, from its first opening. It stays the same.
  public var uuid: StoreUUID?

  /// - Parameter empty: the contents of a store before its first commit.
  public init(_ empty: State) {
    commits = [Commit(durability: .full, isAcknowledged: true, state: empty)]
  }

  /// The newest commit, acknowledged or not.
  public var newest: UInt64 { UInt64(commits.count - 1) }
  /// The state after the newest commit.
  public var state: State { commits[commits.count - 1].state }

  /// The newest commit that was acknowledged.
  public var newestAcknowledged: UInt64 { UInt64(commits.lastIndex { $0.isAcknowledged } ?? 0) }

  /// Notes a commit that is going to be tried, before the store is asked for it.
  public mutating func begin(_ state: State, durability: Durability) {
    commits.append(Commit(durability: durability, isAcknowledged: false, state: state))
  }

  /// Notes that a commit was acknowledged. Others may have begun after it. A full one vouches for every commit before
  /// it.
  public mutating func acknowledge(_ commit: UInt64) {
    commits[Int(commit)].isAcknowledged = true
    if commits[Int(commit)].durability == .full { requireAtLeast(commit) }
  }

  /// Notes that the newest commit was aborted: its number will be used again.
  public mutating func abort() { commits.removeLast() }

  /// Notes that everything up to now was made durable: by a checkpoint, by a close, or because a reader has seen it.
  public mutating func requireEverything() { required = newest }

  /// Notes that everything up to a commit was made durable.
  public mutating func requireAtLeast(_ commit: UInt64) { required = max(required, commit) }

  /// Requires all but the newest commit: nothing in the file vouches for the last one until another follows.
  public mutating func requireAllButNewest() { required = newest == 0 ? 0 : newest - 1 }

  /// Requires no more than any one of the commits.
  public mutating func requireNothing() { required = 0 }

  /// Notes that the store was opened after a crash, or after it was closed. From then on requires the commit that the
  /// store shows: a commit that was seen must stay.
  ///
  /// - Parameter least: the oldest commit that it may show, in addition to ``required``.
  /// - Throws: ``LostCommits`` when it shows an older commit, ``OracleMismatch`` when it shows an impossible state.
  public mutating func reopen(at number: UInt64, as uuid: StoreUUID, atLeast least: UInt64 = 0) throws {
    let required = max(required, least)
    guard number >= required else { throw LostCommits(shown: number, required: required) }
    guard self.uuid == nil || self.uuid == uuid else { throw OracleMismatch("it is another store") }
    guard number <= newest else {
      throw OracleMismatch("opened at commit \(number), the newest is \(newest)")
    }
    self = recovered(at: number)
    self.uuid = uuid
  }

  /// Returns the history after a crash that left the store at `number`: later commits never happened.
  public func recovered(at number: UInt64) -> CommitHistory {
    var history = self
    history.commits.removeLast(commits.count - 1 - Int(number))
    history.required = number
    for index in history.commits.indices { history.commits[index].isAcknowledged = true }
    return history
  }
}

/// A store opened at an earlier commit than one it has acknowledged.
public struct LostCommits: Error, CustomStringConvertible {
  public var shown: UInt64
  public var required: UInt64

  public var description: String { "opened at commit \(shown), though \(required) had been acknowledged" }
}
