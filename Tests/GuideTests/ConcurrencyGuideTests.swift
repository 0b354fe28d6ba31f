import Cambium
import Dispatch
import Foundation
import Synchronization
import Testing

// Quoted in Docs/Concurrency.md
@MainActor func deposit(_ amount: Int, to id: ManagedObjectID, in bank: PersistentContainer) async throws {
  let context = bank.viewContext
  try context.existingObject(Account.self, with: id).balance += amount
  try await context.saveWithoutBlocking()
}
// End of quotation

// Quoted in Docs/Concurrency.md
/// Adds entries to accounts for whichever task asks, one call after the other.
struct Importer: Sendable {
  let context: BackgroundContext

  func add(_ amounts: [Int], to id: ManagedObjectID) async throws -> Int {
    try await context.perform { context in
      let account = try context.existingObject(Account.self, with: id)
      for amount in amounts {
        account.entries.append(Entry(amount: amount))
        account.balance += amount
      }
      try context.save()
      return account.balance
    }
  }
}
// End of quotation

// Quoted in Docs/Concurrency.md
func balances(in bank: PersistentContainer) async throws -> [(String, Int)] {
  try await bank.performBackgroundTask { context in
    try context.fetch(From<Account>().orderBy(\.owner).select(\.owner, \.balance))
  }
}
// End of quotation

// Quoted in Docs/Concurrency.md
func convert(
  _ id: ManagedObjectID,
  in bank: PersistentContainer,
  rate: @Sendable (Int) async throws -> Int
) async throws {
  let old = try await bank.performBackgroundTask { context in
    try context.existingObject(Account.self, with: id).balance
  }
  let new = try await rate(old)
  try await bank.performBackgroundTask { context in
    try context.existingObject(Account.self, with: id).balance += new - old
    try context.save()
  }
}
// End of quotation

/// What Docs/Concurrency.md says that code does.
@MainActor struct ConcurrencyGuideTests {
  /// A bank with one account, of Ada, with the balance 100.
  private func bank() async throws -> (PersistentContainer, ManagedObjectID) {
    let bank = try await PersistentContainer("Bank", models: Account.self, Entry.self, at: .inMemory)
    let id = try await bank.performBackgroundTask { context in
      let account = Account(owner: "Ada")
      account.balance = 100
      context.insert(account)
      try context.save()
      return account.objectID
    }
    return (bank, id)
  }

  @Test func idsAndValuesCross() async throws {
    let (bank, id) = try await bank()
    try await deposit(10, to: id, in: bank)
    #expect(try await balances(in: bank).map { "\($0.0) \($0.1)" } == ["Ada 110"])
    try await convert(id, in: bank) { balance in
      try await transfer(1, to: id, in: bank)
      return balance * 2
    }
    #expect(try await balances(in: bank).map(\.1) == [221])
    try await bank.close()
  }

  @Test func blocksOfABackgroundContextComeOneAfterTheOther() async throws {
    let (bank, id) = try await bank()
    let importer = Importer(context: try bank.newBackgroundContext(name: "import"))
    let calls = (1...10).map { amount in Task { try await importer.add([amount, amount], to: id) } }
    var greatest = 0
    for call in calls { greatest = max(greatest, try await call.value) }
    #expect(greatest == 210)
    // No call was refused with a conflict, and the view context follows.
    #expect(try bank.viewContext.existingObject(Account.self, with: id).entries.count == 20)
    try await bank.close()
  }

  @Test func resultsComeInBatches() async throws {
    let (bank, id) = try await bank()
    _ = try await Importer(context: bank.newBackgroundContext()).add(Array(1...25), to: id)

    // Quoted in Docs/Concurrency.md
    // On the main actor, which does other work between two batches.
    var total = 0
    for try await entries in bank.viewContext.fetch(From<Entry>(), inBatchesOf: 10) {
      total += entries.reduce(0) { $0 + $1.amount }
    }

    // In a block, which can't wait.
    let same = try await bank.performBackgroundTask { context in
      var total = 0
      try context.forEach(From<Entry>(), inBatchesOf: 10) { entry in total += entry.amount }
      return total
    }
    // End of quotation
    #expect(total == 325 && same == 325)
    try await bank.close()
  }

  @Test func cancellationIsSeenWhereTheTaskIs() async throws {
    let (bank, id) = try await bank()
    let importer = try bank.newBackgroundContext()
    _ = try await Importer(context: importer).add(Array(1...25), to: id)
    let rows = Mutex(0)
    let work = Task {
      // Quoted in Docs/Concurrency.md
      let total = try await importer.perform { context in
        var total = 0
        try context.forEach(From<Entry>(), inBatchesOf: 10) { entry in
          try Task.checkCancellation()
          total += entry.amount
        }
        return total
      }
      // End of quotation
      rows.withLock { $0 = total }
    }
    work.cancel()
    await #expect(throws: (any Error).self) { try await work.value }
    #expect(rows.withLock { $0 } == 0)

    // A block of performBackgroundTask is outside of every task.
    let other = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await bank.performBackgroundTask { context in
        context.insert(Account(owner: "Grace"))
        try context.save()
        return Task.isCancelled
      }
    }
    #expect(try await !other.value)
    #expect(try await balances(in: bank).map(\.0) == ["Ada", "Grace"])

    // A save is not cancelled, and is done when it returns.
    let context = bank.viewContext
    let save = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      context.insert(Account(owner: "Hedy"))
      try await context.saveWithoutBlocking()
    }
    try await save.value
    #expect(try await balances(in: bank).map(\.0) == ["Ada", "Grace", "Hedy"])
    try await bank.close()
  }

  @Test func theViewContextMovesInATurnOfTheMainActor() async throws {
    let (bank, id) = try await bank()
    let account = try bank.viewContext.existingObject(Account.self, with: id)
    #expect(account.balance == 100)
    let (mayBegin, isSaved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    await withCheckedContinuation { hasBegun in
      Task.detached {
        try await bank.performBackgroundTask { context in
          hasBegun.resume()
          mayBegin.wait()
          try context.existingObject(Account.self, with: id).balance += 5
          try context.save()
          isSaved.signal()
        }
      }
    }
    // The main actor has no turn while its thread waits.
    mayBegin.signal()
    Self.wait(for: isSaved)
    #expect(account.balance == 100)
    try bank.viewContext.refresh()
    #expect(account.balance == 105)
    try await bank.close()
  }

  private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test func theViewContextAloneHasATimeout() async throws {
    let (bank, _) = try await bank()
    #expect(bank.viewContext.saveTimeout == .seconds(10))
    #expect(try await bank.performBackgroundTask { $0.saveTimeout } == nil)
    #expect(try await bank.newBackgroundContext().perform { $0.saveTimeout } == nil)
    try await bank.close()
  }
}
