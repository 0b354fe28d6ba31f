import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Tokens of commits that a store has lost, because a backup took its place.
struct LostCommitTests {
  private let folder: TemporaryFolder
  private let path: String
  private let backup: String

  init() throws {
    folder = try TemporaryFolder()
    (path, backup) = (folder.file("library.cambium"), folder.file("backup.cambium"))
  }

  /// The commits after a backup have the numbers of those that it lacks.
  @Test func aTokenOfCommitsThatTheStoreHasLostExpires() async throws {
    func write(_ names: [String]) async throws -> [HistoryToken] {
      let library = try await Library.open(at: path)
      defer { try? library.close() }
      try await library.keepHistory()
      for name in names { try await library.write { $0.insert(Writer(name)) } }
      return try await library.history().map(\.token) + [library.newestHistoryToken()]
    }
    let kept = try await write(["A", "B"])
    let library = try await Library.open(at: path)
    try await library.copy(to: URL(fileURLWithPath: backup))
    try await library.close()
    let lost = try await write(["C", "D"])
    try await PersistentContainer.replaceStore(
      at: URL(fileURLWithPath: path),
      byCopyOf: URL(fileURLWithPath: backup)
    )
    let new = try await write(["E", "F", "G"])
    let second = try await Library.open(at: path)
    defer { try? second.close() }
    for token in kept { #expect(try await second.history(HistoryQuery(after: token)).count >= 3) }
    for token in lost.dropFirst(2) {
      let error = await #expect(throws: ContextError.self) {
        try await second.history(HistoryQuery(after: token))
      }
      #expect(error?.code == .historyExpired && error?.oldestHistoryToken != nil)
    }
    #expect(new[2].commit == lost[2].commit, "else this shows nothing")
    _ = try await second.registerHistoryConsumer("mirror")
    await #expect(throws: ContextError.self) {
      try await second.acknowledgeHistory(through: lost[3], by: "mirror")
    }
    await #expect(throws: ContextError.self) { try await second.pruneHistory(before: lost[3]) }
    #expect(try await second.verify() == [])
  }

  /// When the token was made, the history had no transaction and so no date. Now it has some.
  @Test func aTokenFromBeforeAllTransactionsExpiresToo() async throws {
    let library = try await Library.open(at: path)
    try await library.write { $0.insert(Writer("A")) }
    try await library.keepHistory()
    try await library.copy(to: URL(fileURLWithPath: backup))
    let kept = try library.newestHistoryToken()
    _ = try await library.registerHistoryConsumer("x")
    let lost = try library.newestHistoryToken()
    try await library.close()
    try await PersistentContainer.replaceStore(
      at: URL(fileURLWithPath: path),
      byCopyOf: URL(fileURLWithPath: backup)
    )
    let second = try await Library.open(at: path)
    defer { try? second.close() }
    while try second.newestHistoryToken() <= lost {
      try await second.write { try $0.fetch(From<Writer>()).forEach { $0.name += "B" } }
    }
    #expect(try await second.history(HistoryQuery(after: kept)).count >= 1)
    let error = await #expect(throws: ContextError.self) {
      try await second.history(HistoryQuery(after: lost))
    }
    #expect(error?.code == .historyExpired)
  }
}
