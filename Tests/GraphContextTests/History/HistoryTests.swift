import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

private enum Post {
  @Model final class Parcel {
    @Attribute(.unique, .preserveValueOnDeletion) var code: String
    @Attribute(.preserveValueOnDeletion) var weight: Double?
    var note: String = ""
    @Relationship var office: Office?
    @Relationship(inverse: \Stamp.parcels) var stamps: [Stamp] = []
    init(_ code: String, weight: Double? = nil) {
      self.code = code
      self.weight = weight
    }
  }
  @Model final class Office {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Parcel.office) var parcels: [Parcel] = []
    init(_ name: String) { self.name = name }
  }
  @Model final class Stamp {
    var price: Int
    @Relationship var parcels: [Parcel] = []
    init(_ price: Int) { self.price = price }
  }

  static let models: [any ManagedObject.Type] = [Parcel.self, Office.self, Stamp.self]

  static func open(_ path: String? = nil) async throws -> PersistentContainer {
    let location = path.map { StoreLocation.file(URL(fileURLWithPath: $0)) } ?? .inMemory
    return try await PersistentContainer("Post", models: models, at: location)
  }
}

/// The history that a store keeps of its commits, and how long the store keeps it.
struct HistoryTests {
  private let post: PersistentContainer

  init() async throws { post = try await Post.open() }

  /// Saves `count` parcels, each in a save of its own.
  private func save(_ count: Int, _ prefix: String = "p") async throws {
    for number in 0..<count { try await post.write { $0.insert(Post.Parcel("\(prefix)\(number)")) } }
  }

  private func code(_ body: () async throws -> Void) async -> ContextError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? ContextError)?.code }
  }

  // MARK: What is noted

  @Test func aStoreKeepsNoHistoryUnlessItIsToldTo() async throws {
    try await save(1)
    #expect(try post.historyPolicy == nil)
    #expect(try post.store.snapshot().treeIfPresent(HistoryTree.name) == nil)
    #expect(await code { _ = try await post.history() } == .noHistory)
    #expect(await code { _ = try post.newestHistoryToken() } == .noHistory)
    #expect(await code { _ = try await post.registerHistoryConsumer("c") } == .noHistory)
    try await post.dropHistory()
    #expect(try await post.verify() == [])
  }

  @Test func aTransactionSaysWhoChangedWhat() async throws {
    try await post.keepHistory()
    // Commits have whole milliseconds.
    let start = Date(timeIntervalSinceNow: -0.001)
    let background = try post.newBackgroundContext(name: "import")
    try await background.perform { context in
      context.author = "sync"
      let (office, stamp) = (Post.Office("A"), Post.Stamp(1))
      let parcel = Post.Parcel("x", weight: 1)
      for object in [office] { context.insert(object) }
      context.insert(stamp)
      context.insert(parcel)
      try context.save()
      parcel.note = "n"
      parcel.office = office
      parcel.stamps = [stamp]
      try context.save()
      parcel.weight = parcel.weight
      try context.save()
      context.author = nil
      context.delete(parcel)
      try context.save()
    }
    let transactions = try await post.history()
    #expect(
      transactions.map(\.summary) == [
        ["inserted Office 1", "inserted Parcel 1", "inserted Stamp 1"],
        ["updated Parcel 1 note,office,stamps", "updated Stamp 1 parcels"],
        ["deleted Parcel 1", "updated Stamp 1 parcels"],
      ]
    )
    #expect(transactions.map(\.author) == ["sync", "sync", nil])
    #expect(transactions.allSatisfy { $0.contextName == "import" && $0.token.storeID == post.storeID })
    #expect(transactions.allSatisfy { (start...Date()).contains($0.date) })
    #expect(transactions.map(\.token).sorted() == transactions.map(\.token))
    #expect(transactions[2].changes[0].tombstone == ["code": .string("x"), "weight": .double(1)])
    #expect(try await post.verify() == [])
  }

  @Test func deletionsByRulesAndBatchesLeaveTombstones() async throws {
    try await post.keepHistory()
    try await post.write { context in
      for name in ["A", "B"] {
        let office = Post.Office(name)
        context.insert(office)
        for number in 0..<2 { office.parcels.append(Post.Parcel("\(name)\(number)")) }
      }
    }
    let token = try post.newestHistoryToken()
    try await post.batchDelete(From<Post.Office>().where { $0.name == "A" }, author: "cleaner")
    // The context knows nothing of this office's parcels: the rule is applied in the store.
    try await post.write { context in
      let office = try #require(try context.fetch(From<Post.Office>()).first)
      context.delete(office)
    }
    try await post.batchInsert(Post.Stamp.self, from: [1, 2, 3], .set(\.price) { $0 }, author: "importer")
    try await post.batchUpdate(From<Post.Stamp>().where { $0.price > 1 }, .set(\.price, to: 7), author: "a")
    try await post.resetStore(author: "z")
    let transactions = try await post.history(HistoryQuery(after: token))
    #expect(transactions.map(\.author) == ["cleaner", nil, "importer", "a", "z"])
    #expect(transactions[0].summary == ["deleted Office 1", "deleted Parcel 1", "deleted Parcel 2"])
    #expect(transactions[0].changes[1].tombstone == ["code": .string("A0")])
    #expect(transactions[1].summary == ["deleted Office 2", "deleted Parcel 3", "deleted Parcel 4"])
    #expect(transactions[1].changes[2].tombstone == ["code": .string("B1")])
    #expect(transactions[3].summary == ["updated Stamp 2 price", "updated Stamp 3 price"])
    #expect(transactions[4].changes.map(\.kind) == [.deleted, .deleted, .deleted])
    #expect(try await post.verify() == [])
  }

  @Test func aChildsChangesAreItsParents() async throws {
    try await post.keepHistory()
    let context = try post.context()
    defer { context.end() }
    (context.name, context.author) = ("parent", "p")
    let child = context.makeChild()
    (child.name, child.author) = ("child", "c")
    child.insert(Post.Office("A"))
    try child.save()
    #expect(try await post.history().isEmpty)
    try context.save()
    let transaction = try #require(try await post.history().first)
    #expect(transaction.author == "p" && transaction.contextName == "parent")
    #expect(transaction.summary == ["inserted Office 1"])
  }

  @Test func aSaveThatFailsOrChangesNothingIsNotNoted() async throws {
    try await post.keepHistory()
    try await save(1)
    #expect(await code { try await save(1) } == .notUnique)
    try await post.write { _ in }
    try await post.batchUpdate(From<Post.Parcel>(), .set(\.note, to: ""))
    #expect(try await post.history().count == 1)
  }

  // MARK: Queries

  @Test func queriesRestrictWhatIsRead() async throws {
    try await post.keepHistory()
    for (author, name) in [("a", "x"), ("b", "y"), (nil, "z")] {
      try await post.write { context in
        context.author = author
        context.insert(Post.Parcel(name))
        if author == "a" { context.insert(Post.Office("o")) }
      }
      try await Task.sleep(for: .milliseconds(2))
    }
    let all = try await post.history()
    func read(_ query: HistoryQuery) async throws -> [[String]] {
      try await post.history(query).map(\.summary)
    }
    #expect(try await read(HistoryQuery(after: all[0].token)).count == 2)
    #expect(try await read(HistoryQuery(entities: ["Office"])) == [["inserted Office 1"]])
    #expect(try await read(HistoryQuery(entities: ["Nothing"])) == [])
    let id = all[1].changes[0].objectID
    #expect(try await read(HistoryQuery(objectIDs: [id])) == [["inserted Parcel 2"]])
    #expect(try await read(HistoryQuery(authors: ["a", "b"])).count == 2)
    #expect(
      try await read(HistoryQuery(excludingAuthors: ["a"])) == [["inserted Parcel 2"], ["inserted Parcel 3"]]
    )
    #expect(try await read(HistoryQuery(from: all[1].date)).count == 2)
    #expect(try await read(HistoryQuery(before: all[1].date)).count == 1)
    #expect(try await read(HistoryQuery(limit: 2)).count == 2)
    #expect(try await read(HistoryQuery(limit: 0)).isEmpty)
    #expect(try await read(HistoryQuery(after: all[2].token)).isEmpty)
  }

  @Test func theNewestTransactionsAreReadFirstAndAlone() async throws {
    try await post.keepHistory()
    try await save(6)
    let all = try await post.history()
    #expect(try await post.history(HistoryQuery(newestFirst: true)) == all.reversed())
    #expect(try await post.history(HistoryQuery(newestFirst: true, limit: 2)) == [all[5], all[4]])
    let query = HistoryQuery(after: all[3].token, newestFirst: true, limit: 5)
    #expect(try await post.history(query) == [all[5], all[4]])
    let changes = try post.context().merge(all.reversed())
    #expect(changes.inserted.count == 6)

    // Older, damaged transactions are not read.
    try await post.store.write { transaction in
      let key = HistoryTree.transactionKey(all[3].token.commit)
      try transaction.tree(HistoryTree.name).put(key, [1, 2])
    }
    #expect(try await post.history(HistoryQuery(newestFirst: true, limit: 2)) == [all[5], all[4]])
    await #expect(throws: ContextError.self) {
      try await post.history(HistoryQuery(newestFirst: true, limit: 3))
    }
  }

  @Test func aContextMergesWhatItHasMissed() async throws {
    try await post.keepHistory()
    let context = try post.context()
    defer { context.end() }
    let token = try post.newestHistoryToken()
    try await save(2)
    try await post.batchUpdate(From<Post.Parcel>().where { $0.code == "p0" }, .set(\.note, to: "n"))
    try await post.batchDelete(From<Post.Parcel>().where { $0.code == "p1" })
    try await post.write { $0.insert(Post.Office("o")) }
    #expect(try context.count(From<Post.Parcel>()) == 0)
    let transactions = try await post.history(HistoryQuery(after: token))
    let changes = try context.merge(transactions)
    #expect(try context.count(From<Post.Parcel>()) == 1)
    #expect(changes.inserted.map(\.entityName) == ["Office", "Parcel"] && changes.origin == .store)
    #expect(changes.updated.isEmpty && changes.deleted.isEmpty)
    #expect(try context.merge(Array(transactions.suffix(3))).updated.map(\.number.rawValue) == [1])
    #expect(try context.merge(Array(transactions[2...3])).deleted.map(\.number.rawValue) == [2])
  }

  // MARK: Tokens

  @Test func tokensSurviveCodingAndReopening() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("post.cambium")
    let first = try await Post.open(path)
    try await first.keepHistory(
      HistoryPolicy(limits: .none, consumerLimits: HistoryLimits(age: .seconds(60)))
    )
    try await first.write { $0.insert(Post.Office("A")) }
    let token = try first.newestHistoryToken()
    try await first.write { $0.insert(Post.Office("B")) }
    try await first.close()
    let data = try JSONEncoder().encode(token)
    let second = try await Post.open(path)
    #expect(
      try second.historyPolicy
        == HistoryPolicy(limits: .none, consumerLimits: HistoryLimits(age: .seconds(60)))
    )
    let decoded = try JSONDecoder().decode(HistoryToken.self, from: data)
    #expect(decoded == token && HistoryToken(token.description) == token)
    #expect(try await second.history(HistoryQuery(after: decoded)).map(\.summary) == [["inserted Office 2"]])
    #expect(try await second.verify() == [])
    try await second.close()
    #expect(HistoryToken("\(token.storeID):1")?.commit == 1)
    for text in ["", "x:1"] + ["", "-1", "1:", "1:g", "1:0", "1:2:3"].map({ "\(token.storeID):\($0)" }) {
      #expect(HistoryToken(text) == nil)
    }
    #expect(try StoreMetadata(at: URL(fileURLWithPath: path)).formatVersion == 4)
  }

  @Test func aTokenThatIsOfNoUseSaysWhereToGoOn() async throws {
    try await post.keepHistory()
    try await save(4)
    let tokens = try await post.history().map(\.token)
    func error(_ token: HistoryToken) async -> ContextError? {
      await #expect(throws: ContextError.self) { try await post.history(HistoryQuery(after: token)) }
    }
    #expect(try await post.pruneHistory(before: tokens[1]) == 2)
    #expect(try post.oldestHistoryToken() == tokens[1])
    #expect(try await post.history(HistoryQuery(after: tokens[1])).map(\.token) == Array(tokens[2...]))
    let expired = await error(tokens[0])
    #expect(expired?.code == .historyExpired && expired?.oldestHistoryToken == tokens[1])
    let later = HistoryToken(storeID: post.storeID, commit: .max)
    #expect(await error(later)?.code == .historyExpired)
    let foreign = await error(HistoryToken(storeID: UUID(), commit: tokens[2].commit))
    #expect(foreign?.code == .historyExpired && foreign?.oldestHistoryToken == tokens[1])
    #expect(await code { try await post.pruneHistory(before: later) } == .historyExpired)

    // Without any transaction, the history still keeps the token at which it continues.
    #expect(try await post.pruneHistory(before: post.newestHistoryToken()) == 2)
    #expect(try await post.history(HistoryQuery(after: tokens[3])).isEmpty)
    #expect(await error(tokens[2])?.oldestHistoryToken == tokens[3])
    try await save(1, "q")
    #expect(try await post.history(HistoryQuery(after: tokens[3])).count == 1)
    #expect(await error(tokens[2])?.code == .historyExpired)
    #expect(try await post.verify() == [])
  }

  @Test func aHistoryThatWasDroppedDoesNotGoOn() async throws {
    try await post.keepHistory()
    try await save(2)
    let token = try #require(try await post.history().first?.token)
    try await post.dropHistory()
    #expect(try await post.verify() == [])
    try await save(1, "unseen")
    try await post.keepHistory()
    #expect(await code { _ = try await post.history(HistoryQuery(after: token)) } == .historyExpired)
    #expect(try await post.history().isEmpty)
    try await save(1, "seen")
    #expect(try await post.history().count == 1)
    #expect(try await post.verify() == [])
  }

  @Test func beginningAgainWithTheSamePolicyWritesNothing() async throws {
    try await post.keepHistory()
    let commit = try post.store.snapshot().commit
    try await post.keepHistory()
    #expect(try post.store.snapshot().commit == commit)
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(age: .seconds(-5), byteCount: -1)))
    let policy = try #require(try post.historyPolicy)
    #expect(policy.limits == HistoryLimits(age: .zero, byteCount: 0))
  }

  // MARK: Limits

  @Test func theOldestTransactionsGoWhenALimitIsReached() async throws {
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(transactionCount: 3)))
    try await save(10)
    #expect(try await post.history().map(\.summary) == (8...10).map { ["inserted Parcel \($0)"] })
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(transactionCount: 2)))
    #expect(try await post.history().count == 2)
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(age: .seconds(3_600))))
    try await save(5, "q")
    #expect(try await post.history().count == 7)
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(age: .zero)))
    #expect(try await post.history().count == 1)
    try await save(3, "r")
    #expect(try await post.history().count == 1)
    #expect(try await post.verify() == [])
  }

  @Test func theBytesOfAHistoryAreBounded() async throws {
    try await post.keepHistory(HistoryPolicy(limits: HistoryLimits(byteCount: 1_000)))
    for number in 0..<100 {
      try await post.write { context in
        context.author = String(repeating: "a", count: number)
        context.insert(Post.Parcel("p\(number)"))
      }
      let tree = try #require(try post.store.snapshot().treeIfPresent(HistoryTree.name))
      var (bytes, count) = (0, 0)
      var cursor = tree.cursor(in: HistoryTree.transactions)
      while try cursor.next() {
        bytes += try cursor.key().count + cursor.value().count
        count += 1
      }
      #expect(bytes <= 1_000 && count >= 1)
      if number > 40 { #expect(bytes > 700) }
    }
    #expect(try await post.verify() == [])
  }

  @Test func pruningWaitsForConsumersUpToABound() async throws {
    try await post.keepHistory(
      HistoryPolicy(
        limits: HistoryLimits(transactionCount: 2),
        consumerLimits: HistoryLimits(transactionCount: 6)
      )
    )
    var token = try await post.registerHistoryConsumer("index")
    try await save(4)
    #expect(try await post.history(HistoryQuery(after: token)).count == 4)
    token = try await post.history()[2].token
    try await post.acknowledgeHistory(through: token, by: "index")
    #expect(try post.historyConsumers == ["index": token])
    #expect(try await post.registerHistoryConsumer("index") == token)
    try await save(1, "q")
    #expect(try await post.history().count == 2)
    #expect(try await post.pruneHistory(before: post.newestHistoryToken()) == 0)
    try await save(10, "r")
    #expect(try await post.history().count == 6)
    #expect(await code { _ = try await post.history(HistoryQuery(after: token)) } == .historyExpired)
    #expect(try await post.pruneHistory(before: post.newestHistoryToken(), includingUnread: true) == 6)
    try await post.removeHistoryConsumer("index")
    try await save(4, "s")
    #expect(try await post.history().count == 2)
    #expect(
      await code { try await post.acknowledgeHistory(through: token, by: "index") } == .noHistoryConsumer
    )
    let foreign = HistoryToken(storeID: UUID(), commit: 1)
    _ = try await post.registerHistoryConsumer("ü/x")
    #expect(await code { try await post.acknowledgeHistory(through: foreign, by: "ü/x") } == .historyExpired)
    #expect(try await post.verify() == [])
  }

  @Test func aConsumersNameIsAKey() async throws {
    try await post.keepHistory()
    _ = try await post.registerHistoryConsumer(String(repeating: "n", count: 4_087))
    #expect(
      await code { _ = try await post.registerHistoryConsumer(String(repeating: "n", count: 4_088)) }
        == .store
    )
    #expect(try post.historyConsumers.count == 1)
  }

  // MARK: Cost

  @Test func aSmallCommitHasFewBytesMore() async throws {
    func bytes(_ keepsHistory: Bool) async throws -> UInt64 {
      let folder = try TemporaryFolder()
      let container = try await Post.open(folder.file("post.cambium"))
      if keepsHistory { try await container.keepHistory() }
      try await container.write { $0.insert(Post.Parcel("first")) }
      let start = try container.store.snapshot().commit
      for number in 0..<20 {
        try await container.write { context in
          (context.author, context.name) = ("importer", "background")
          try context.fetch(From<Post.Parcel>()).first?.note = "note \(number)"
        }
      }
      try await container.close()
      // Appended bytes are padded to whole blocks. Only the record says how long it is itself.
      let records = try FileInspector(path: folder.file("post.cambium")).logRecords()
        .filter { $0.kind == "transaction" && $0.commit > start }
      try #require(records.count == 20)
      return records.reduce(0) { $0 + UInt64($1.byteCount) }
    }
    let (without, with) = (try await bytes(false), try await bytes(true))
    #expect(with > without && with <= without + 20 * 120, "\(with) bytes instead of \(without)")
  }
}
