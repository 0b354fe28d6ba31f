import Synchronization
import Testing

@testable import PageStore

struct VersionTableTests {
  private func version(
    _ commit: UInt64,
    _ generation: UInt64,
    _ durability: Durability = .full
  ) -> Version {
    Version(
      commit: commit,
      timestamp: 0,
      generation: generation,
      directory: TreeDirectory(sortedNames: TreeNames()),
      roots: [],
      nextTreeID: 3,
      sequence: commit,
      durability: durability,
      link: CommitLink(commit)
    )
  }

  /// The compacted version waited for a sync, which has failed since.
  @Test func aCompactedVersionDoesNotBringBackWhatWasTakenBack() {
    let table = VersionTable(version(1, 1))
    let takenBack = version(2, 2)
    table.append(takenBack)
    table.fallBack()
    #expect(!table.supersede(takenBack, with: version(2, 3)))
    #expect(table.latest.commit == 1)
    #expect(table.published.commit == 1)
    #expect(table.supersede(table.latest, with: version(1, 2)))
    #expect(table.published.generation == 2)
  }

  /// In a store that never syncs, a relaxed commit becomes durable with the next commit that isn't synced. Neither
  /// waits for a sync then, so later syncs must not publish them again.
  @Test func aSyncDoesNotPublishAVersionThatACompactionHasReplaced() {
    let table = VersionTable(version(1, 1, .none))
    table.append(version(2, 2, .relaxed))
    let newest = version(3, 3, .none)
    table.append(newest)
    table.advance(written: 3, durable: 1)
    #expect(table.published === newest)
    let compacted = version(3, 4, .none)
    #expect(table.supersede(newest, with: compacted))
    table.advance(written: 3, durable: 3)
    #expect(table.published === compacted)
    #expect(table.holders.oldestUnheld == 4)
  }

  /// Readers have never seen a version that waits for its sync.
  @Test func onlyVersionsThatReadersCouldSeeAreReportedAsTakenBack() {
    let count = Atomic(0)
    let table = VersionTable(version(1, 1))
    table.onTakenBack { count.add(1, ordering: .relaxed) }
    table.append(version(2, 2))
    table.fallBack()
    #expect(count.load(ordering: .relaxed) == 0)
    table.append(version(2, 3, .relaxed))
    table.advance(written: 2, durable: 1)
    table.fallBack()
    #expect(count.load(ordering: .relaxed) == 1)
  }
}
