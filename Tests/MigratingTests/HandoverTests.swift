import Foundation
import Glibc
import GraphTestSupport
import PageStore
import Predicates
import Synchronization
import Testing

@testable import GraphContext

/// A container that takes a store over from containers with other models.
struct HandoverTests {
  private static let count = 400
  private let store: Store
  private let old: PersistentContainer

  /// A store whose songs have records of an earlier layout, open with the second of three schemas.
  init() throws {
    store = try Store.inMemory()
    try Self.fill(store)
    old = try Self.open(store, Self.schema([Self.title]))
  }

  private static func fill(_ store: Store) throws {
    let context = try open(store, schema([])).context()
    for code in 0..<count { try context.make("Song", ["code": .int(Int64(code))]) }
    try context.save()
    context.end()
  }

  private static let code = attribute("code", .int64)
  private static let title = attribute("title", .string, optional: true, default: .string("untitled"))
  private static let year = attribute("year", .int64, default: .int(1971))

  private static func schema(_ added: [PropertyDescription], isIndexed: Bool = false) throws -> Schema {
    let indexes = isIndexed ? [IndexDescription(["code"], isUnique: true), IndexDescription(["title"])] : []
    return try Schema(entities: [entity("Song", [code] + added, indexes: indexes)])
  }

  private static func open(
    _ store: Store,
    _ schema: Schema,
    _ opening: ContainerOpening = ContainerOpening()
  ) throws -> PersistentContainer {
    try PersistentContainer(
      "Songs",
      ContainerModels(classes: [], others: .schema(schema)),
      on: store,
      opening
    )
  }

  /// Opens the store with two additional indexes and an additional attribute, in many commits.
  private func takeOver(_ monitor: MigrationMonitor = Reports().monitor()) throws -> PersistentContainer {
    let schema = try Self.schema([Self.title, Self.year], isIndexed: true)
    return try Self.open(store, schema, ContainerOpening(monitor: monitor, takesOver: true))
  }

  private func code(of body: () throws -> Void) -> ContextError.Code? {
    do { try body() } catch { return (error as? ContextError)?.code }
    return nil
  }

  @Test func readersGoOnUntilTheSwitch() throws {
    struct Look: Equatable {
      var count: Int?
      var saving: ContextError.Code?
      var upgrading: ContextError.Code?
    }
    let looks = Mutex<[Look]>([])
    let monitor = MigrationMonitor(chunkByteCount: 2_000) { [old] _ in
      var look = Look()
      do {
        let context = try old.context()
        defer { context.end() }
        look.count = try context.fetch(DynamicQuery("Song")).count { try $0["title"] == .string("untitled") }
        _ = try? context.make("Song", ["code": .int(-1)])
        try context.save()
      } catch {
        look.saving = (error as? ContextError)?.code
      }
      do { _ = try old.engine.upgradeRecords(MigrationMonitor()) } catch {
        look.upgrading = (error as? ContextError)?.code
      }
      looks.withLock { $0.append(look) }
    }
    let new = try takeOver(monitor)
    // The last look is after the switch.
    let expected = Look(count: Self.count, saving: .schemaChanging, upgrading: .schemaChanging)
    let found = looks.withLock { $0 }
    #expect(found.count > 3)
    #expect(found.dropLast().allSatisfy { $0 == expected })
    #expect(found.last == Look(count: nil, saving: .schemaChanged, upgrading: .schemaChanging))
    let context = try new.context()
    #expect(try context.values("Song", "year") == Array(repeating: .int(1971), count: Self.count))
    #expect(try new.verify().map(\.description) == [])
    context.end()
  }

  @Test func contextsKeepWhatTheyShow() throws {
    let kept = try old.context()
    let songs = try kept.fetch(DynamicQuery("Song"))
    let new = try takeOver()
    #expect(try songs[7]["code"] == .int(7))
    #expect(try kept.values("Song", "title").count == Self.count)
    #expect(code { try kept.refresh() } == .schemaChanged)
    #expect(code { _ = try old.context() } == .schemaChanged)
    #expect(code { _ = try old.engine.upgradeRecords(MigrationMonitor()) } == .schemaChanged)
    #expect(code { _ = try old.verify() } == .schemaChanged)
    kept.end()
    #expect(try new.context().fetch(DynamicQuery("Song")).count == Self.count)
  }

  @Test func unsavedChangesAreRefusedAfterTheSwitch() throws {
    let kept = try old.context()
    try kept.fetch(DynamicQuery("Song"))[7].set("code", to: .int(-7))
    try kept.make("Song", ["code": .int(-1)])
    let new = try takeOver()
    #expect(code { try kept.save() } == .schemaChanged)
    // The changes are still there to be read.
    #expect(kept.hasChanges)
    #expect(try kept.fetch(DynamicQuery("Song"))[7]["code"] == .int(-7))
    kept.end()
    let context = try new.context()
    #expect(try context.values("Song", "code") == (0..<Int64(Self.count)).map { .int($0) })
    // No number is given twice.
    #expect(
      try context.make("Song", ["code": .int(-2), "year": .int(1)]).objectID.number.rawValue
        > UInt64(Self.count + 1)
    )
    try context.save()
    context.end()
  }

  @Test(arguments: [1, 2, 5]) func savesGoOnAfterACancelledChange(commits: Int) throws {
    let kept = try old.context()
    try kept.fetch(DynamicQuery("Song"))[7].set("code", to: .int(-7))
    try kept.make("Song", ["code": .int(-1)])
    let trees = try old.newestView().snapshot.treeNames.sorted()
    #expect(code { _ = try takeOver(Reports().monitor(cancellingAfter: commits)) } == .cancelled)
    #expect(try old.newestView().snapshot.treeNames.sorted() == trees)
    try kept.save()
    #expect(try old.verify().map(\.description) == [])
    kept.end()
    let context = try takeOver().context()
    #expect(try context.numbers("Song", "code == -7") == [8])
    #expect(try context.numbers("Song", "code == -1").count == 1)
    context.end()
  }

  @Test func savesGoOnAfterARefusedChange() throws {
    let required = try Self.schema([attribute("label", .string)])
    let kept = try old.context()
    try kept.make("Song", ["code": .int(-1)])
    #expect(code { _ = try Self.open(store, required, ContainerOpening(takesOver: true)) } == .schemaMismatch)
    try kept.save()
    #expect(try kept.fetch(DynamicQuery("Song")).count == Self.count + 1)
    #expect(try old.engine.upgradeRecords(MigrationMonitor()) == Self.count)
    kept.end()
  }

  @Test func aStoreIsTakenOverOnlyWhereTheOpeningSaysSo() throws {
    let schema = try Self.schema([Self.title, Self.year])
    #expect(code { _ = try Self.open(store, schema) } == .schemaMismatch)
    let context = try old.context()
    try context.make("Song", ["code": .int(-1)])
    try context.save()
    context.end()
    // A container with the same models shares the store, whether or not its opening may take the store over.
    let same = try Self.open(store, try Self.schema([Self.title]), ContainerOpening(takesOver: true))
    #expect(same.coordinator === old.coordinator)
  }

  @Test func aWriteUnderWayEndsFirst() throws {
    let isWriting = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    let (coordinator, engine) = (old.coordinator, old.engine)
    Thread.detachNewThread {
      defer {
        isWriting.signal()
        isDone.signal()
      }
      do {
        let context = try ManagedObjectContext(coordinator: coordinator)
        try context.make("Song", ["code": .int(-1)])
        let encoded = try ChangeEncoder(context).encode()
        _ = try engine.commit(nil, turn: .waiting(timeout: nil), showsValues: true) { _ in
          isWriting.signal()
          while (try? engine.checkWritable()) != nil { sched_yield() }
          return encoded
        } reviewing: { _, _, _, _ in
          true
        }
        context.end()
      } catch {
        Issue.record(error)
      }
    }
    isWriting.wait()
    let context = try takeOver().context()
    isDone.wait()
    #expect(try context.numbers("Song", "code == -1").count == 1)
    context.end()
  }

  @Test func threadsReadThroughout() throws {
    let ready = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let errors = Mutex<[ContextError.Code?]>([])
    let readers = 3
    for _ in 0..<readers {
      Thread.detachNewThread { [old] in
        var isReady = false
        let error = #expect(throws: ContextError.self) {
          while true {
            let context = try old.context()
            defer { context.end() }
            let titles = try context.values("Song", "title")
            #expect(titles == Array(repeating: .string("untitled"), count: Self.count))
            if !isReady { ready.signal() }
            isReady = true
          }
        }
        errors.withLock { $0.append(error?.code) }
        ended.signal()
      }
    }
    for _ in 0..<readers { ready.wait() }
    let new = try takeOver()
    for _ in 0..<readers { ended.wait() }
    #expect(errors.withLock { $0 } == Array(repeating: .schemaChanged, count: readers))
    #expect(try new.verify().map(\.description) == [])
  }

  @MainActor @Test func theViewContextSaysThatTheStoreWasTakenOver() throws {
    let asked = old.viewContext
    let other = try Self.open(store, Self.schema([Self.title]))
    #expect(try asked.fetch(DynamicQuery("Song")).count == Self.count)
    _ = try takeOver()
    #expect(code { try asked.refresh() } == .schemaChanged)
    #expect(try asked.fetch(DynamicQuery("Song")).count == Self.count)
    let late = other.viewContext
    #expect(code { _ = try late.fetch(DynamicQuery("Song")) } == .schemaChanged)
    late.rollback()
    #expect(code { _ = try late.fetch(DynamicQuery("Song")) } == .schemaChanged)
    #expect(code { _ = try late.count(DynamicQuery("Song")) } == .schemaChanged)
  }

  @Test func aCommitThatWasPinnedBeforeTheSwitchIsOfOtherModels() async throws {
    let commit = try old.pinCommit()
    let new = try takeOver()
    for container in [old, new] {
      let error = await #expect(throws: ContextError.self) { try await container.query(at: commit) { _ in } }
      #expect(error?.code == .schemaChanged)
    }
    let ofOtherStore = try Self.open(Store.inMemory(), Self.schema([])).pinCommit()
    let error = await #expect(throws: ContextError.self) { try await new.query(at: ofOtherStore) { _ in } }
    #expect(error?.code == .commitNotHeld)
  }
}
