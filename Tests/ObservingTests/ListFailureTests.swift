import Cambium
import Foundation
import PageStore
import Testing

@testable import GraphContext

/// Lists of a store that can't be read for a time.
struct ListFailureTests {
  /// Records the calls of a list's observer.
  private final class Log: ListObserver {
    typealias Object = Departure
    var heard: [String] = []

    func listWillChange(_ list: FetchedResults<Departure>) { heard.append("will") }
    func listDidChange(_ list: FetchedResults<Departure>, _ changes: ListChanges) {
      heard.append(changes.isReload ? "reload" : "did")
    }
    func list(_ list: FetchedResults<Departure>, didFailWith error: ContextError) {
      heard.append("\(error.code)")
    }
  }

  /// Puts bytes in the place of the first record.
  ///
  /// - Returns: the previous bytes.
  @discardableResult private func setFirstRecord(
    _ bytes: [UInt8],
    of container: PersistentContainer
  ) async throws -> [UInt8] {
    let tree = try #require(container.coordinator.schema.entity(named: "Departure")).treeName
    return try await container.store.write { transaction in
      let tree = try transaction.tree(tree)
      let entry = try #require(try tree.entry(at: 0))
      _ = try tree.put(entry.key, bytes)
      return entry.value
    }
  }

  @Test func aListSaysThatItCannotBeReadAndThatItCanAgain() async throws {
    let container = try await Airport.open(count: 3)
    let (context, writer) = (try container.context(), try container.context())
    let list = try FetchedResults(From<Departure>().orderBy(\.city), in: context)
    let log = Log()
    list.addObserver(log)
    var (errors, reloads) = ([ContextError.Code](), 0)
    var failures = list.failures().makeAsyncIterator()
    let subscriptions = [
      list.onFailure { errors.append($0.code) },
      list.onChange { reloads += $0.isReload ? 1 : 0 },
    ]
    let whole = try await setFirstRecord([0xff, 0xff], of: container)
    for minute in [10, 11] {
      writer.insert(Departure(minute, "y\(minute)"))
      try writer.save()
      try context.refresh()
    }
    #expect(list.failure?.code == .corrupt)
    #expect(errors == [.corrupt])
    #expect(await failures.next()?.code == .corrupt)
    #expect(log.heard == ["corrupt"])
    #expect(list.count == 3)
    try await setFirstRecord(whole, of: container)
    writer.insert(Departure(12, "y12"))
    try writer.save()
    try context.refresh()
    #expect(list.failure == nil)
    #expect(list.map(\.city) == ["x1", "x2", "x3", "y10", "y11", "y12"])
    #expect(log.heard == ["corrupt", "will", "reload"])
    #expect(reloads == 1)
    withExtendedLifetime(subscriptions) {}
  }

  /// If a listener fetches again, all observers are told of the reload after the failure.
  @Test func aListMayBeFetchedAgainWhereItsFailureIsTold() async throws {
    let container = try await Airport.open(count: 3)
    let (context, writer) = (try container.context(), try container.context())
    let list = try FetchedResults(From<Departure>().orderBy(\.city), in: context)
    let log = Log()
    list.addObserver(log)
    let subscription = list.onFailure { [unowned list] _ in
      #expect(throws: Never.self) {
        try list.refetch(From<Departure>().where { $0.minute > 1 }.orderBy(\.minute))
      }
    }
    try await setFirstRecord([0xff, 0xff], of: container)
    writer.insert(Departure(10, "y"))
    try writer.save()
    try context.refresh()
    #expect(log.heard == ["corrupt", "will", "reload"])
    #expect(list.failure == nil && list.map(\.minute) == [2, 3, 10])
    // A list that can't be read doesn't keep its context from saving.
    context.insert(Departure(11, "z"))
    try context.save()
    #expect(list.count == 4)
    withExtendedLifetime(subscription) {}
  }

  @Test func aFailedListThatWasPausedIsFetchedAgain() async throws {
    let container = try await Airport.open(count: 3)
    let (context, writer) = (try container.context(), try container.context())
    let list = try FetchedResults(From<Departure>().orderBy(\.city), in: context)
    let whole = try await setFirstRecord([0xff, 0xff], of: container)
    writer.insert(Departure(10, "y"))
    try writer.save()
    try context.refresh()
    #expect(list.failure != nil)
    list.pause()
    try await setFirstRecord(whole, of: container)
    let other = try container.context()
    #expect(try other.count(From<Departure>()) == 4)
    try context.refresh()
    try list.resume()
    #expect(list.failure == nil && list.count == 4)
  }
}
