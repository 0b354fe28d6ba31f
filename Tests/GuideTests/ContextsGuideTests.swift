import Cambium
import Foundation
import Testing

// Quoted in Docs/Contexts.md
@Model final class Account {
  var owner: String
  var balance: Int = 0
  @Relationship(deleteRule: .cascade) var entries: [Entry] = []

  init(owner: String) { self.owner = owner }
}

@Model final class Entry {
  var amount: Int
  @Relationship(inverse: \Account.entries) var account: Account?

  init(amount: Int) { self.amount = amount }
}
// End of quotation

// Quoted in Docs/Contexts.md
/// Changes the balance in a context of its own, and begins again when another context was faster.
func transfer(_ amount: Int, to id: ManagedObjectID, in bank: PersistentContainer) async throws {
  while true {
    do {
      return try await bank.performBackgroundTask { context in
        try context.existingObject(Account.self, with: id).balance += amount
        try context.save()
      }
    } catch let error as ContextError where error.code == .conflict {
      continue
    }
  }
}
// End of quotation

// Quoted in Docs/Contexts.md
@Model final class Customer {
  @Attribute(.unique(ifExists: .merge)) var number: Int
  var name: String = ""
  var city: String?

  init(_ number: Int, name: String = "", city: String? = nil) {
    self.number = number
    self.name = name
    self.city = city
  }
}
// End of quotation

@MainActor struct ContextsGuideTests {
  private func bank() async throws -> PersistentContainer {
    try await PersistentContainer("Bank", models: Account.self, Entry.self, at: .inMemory)
  }

  @Test func contextsAndTheirObjects() async throws {
    let bank = try await bank()

    // Quoted in Docs/Contexts.md
    // A context for one block, on a background queue.
    let id = try await bank.performBackgroundTask { context in
      let account = Account(owner: "Ada")
      context.insert(account)
      try context.save()
      return account.objectID
    }

    // A context on a background queue, for as long as you keep it.
    let importer = try bank.newBackgroundContext(name: "import")
    for amounts in [[100, 200], [-50]] {
      try await importer.perform { context in
        let account = try context.existingObject(Account.self, with: id)
        for amount in amounts {
          account.entries.append(Entry(amount: amount))
          account.balance += amount
        }
        try context.save()
      }
    }

    // The context of the main actor.
    let context = bank.viewContext
    let account = try context.existingObject(Account.self, with: id)
    print("\(account.owner) has \(account.balance) after \(account.entries.count) entries")
    // End of quotation
    #expect(account.balance == 250 && account.entries.count == 3)

    // Quoted in Docs/Contexts.md
    account.balance += 1
    print(account.changedValues)  // ["balance": 251]
    print(account.committedValues["balance"] ?? .null)  // 250
    context.refresh(account, mergeChanges: false)  // The object's own changes are dropped.
    // End of quotation
    #expect(account.balance == 250 && !context.hasChanges)

    // Quoted in Docs/Contexts.md
    account.owner = "Ada Lovelace"
    context.insert(Account(owner: "Grace"))
    if context.hasChanges {
      try context.save()
    }

    account.balance = 0
    context.rollback()  // 250 again
    // End of quotation
    #expect(account.balance == 250 && !context.hasChanges)
    #expect(try context.count(From<Account>()) == 2)

    // Quoted in Docs/Contexts.md
    account.owner = "Augusta Ada King"
    try await context.saveWithoutBlocking()
    // End of quotation
    #expect(!context.hasChanges && account.owner == "Augusta Ada King")

    try await transfer(50, to: id, in: bank)
    // Quoted in Docs/Contexts.md
    try context.refresh()
    // End of quotation
    #expect(account.balance == 300)

    // Quoted in Docs/Contexts.md
    let entries = account.entries
    context.delete(account)
    print(account.isDeleted, entries.allSatisfy { $0.isDeleted })  // true true
    try context.save()
    // End of quotation
    #expect(account.isDeleted && entries.count == 3)
    #expect(entries.filter(\.isDeleted).count == 3)
    #expect(try context.count(From<Entry>()) == 0)
    try await bank.close()
  }

  @Test func children() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Ada")
    context.insert(account)
    try context.save()
    let id = account.objectID

    // Quoted in Docs/Contexts.md
    let draft = context.makeChild()
    let copy = try draft.existingObject(Account.self, with: id)
    copy.owner = "Countess of Lovelace"
    draft.insert(Account(owner: "Charles"))
    try draft.save()  // The context has both changes now, unsaved.
    try context.save()  // The store has them.
    // End of quotation
    #expect(account.owner == "Countess of Lovelace" && !context.hasChanges)
    #expect(try context.count(From<Account>()) == 2)
    try await bank.close()
  }

  @Test func undoing() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Grace")
    context.insert(account)
    try context.save()

    // Quoted in Docs/Contexts.md
    context.undoManager = ContextUndoManager()
    account.owner = "Ada"
    account.entries.append(Entry(amount: 7))
    context.processPendingChanges()
    context.delete(account)
    context.undo()  // The account is back, with its entries.
    context.undo()  // The owner's name and the list of entries are what they were.
    context.redo()
    // End of quotation
    #expect(account.owner == "Ada" && account.entries.count == 1 && !account.isDeleted)
    context.undo()
    #expect(account.owner == "Grace" && account.entries.isEmpty && !context.hasChanges)
    try await bank.close()
  }

  @Test func events() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Grace")
    context.insert(account)
    try context.save()

    // Quoted in Docs/Contexts.md
    let subscription = context.onObjectsDidChange { changes in
      print(changes.origin, changes.inserted.count, changes.updated.count, changes.deleted.count)
    }
    account.balance += 1
    context.processPendingChanges()  // context 0 1 0
    subscription.cancel()
    // End of quotation
    let stream = context.objectChanges()
    account.balance += 1
    context.processPendingChanges()
    var iterator = stream.makeAsyncIterator()
    let changes = try #require(await iterator.next())
    #expect(changes.origin == .context && changes.updated == [account.objectID])
    try await bank.close()
  }

  @Test func insertingWithoutObjects() async throws {
    let bank = try await bank()

    // Quoted in Docs/Contexts.md
    let account = try await bank.write { context in
      let account = Account(owner: "Mary")
      context.insert(account)
      return account.objectID
    }
    let ids = try await bank.batchInsert(
      Entry.self,
      from: [5, 10, 15],
      .set(\.amount) { $0 },
      .set(\.account) { _ in account },
      chunkSize: 10_000
    )
    // End of quotation
    #expect(ids.count == 3)
    let mary = try bank.viewContext.existingObject(Account.self, with: account)
    #expect(mary.balance == 0 && mary.entries.map(\.amount).reduce(0, +) == 30)
    try await bank.close()
  }

  @Test func conflicts() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    context.automaticallyMergesChangesFromParent = false
    let account = Account(owner: "Ada")
    context.insert(account)
    try context.save()
    let id = account.objectID
    try await bank.performBackgroundTask { context in
      try context.existingObject(Account.self, with: id).balance = 100
      try context.save()
    }

    // Quoted in Docs/Contexts.md
    account.balance += 10
    do {
      try context.save()
    } catch {
      guard error.code == .conflict else { throw error }
      context.rollback()
      try context.refresh()
      account.balance += 10
      try context.save()
    }
    // End of quotation
    #expect(account.balance == 110)

    // Quoted in Docs/Contexts.md
    let importer = try bank.newBackgroundContext(name: "import", mergePolicy: .mergeByPropertyStoreTrump)
    // End of quotation
    #expect(try await importer.perform { $0.mergePolicy } == .mergeByPropertyStoreTrump)
    try await bank.close()
  }

  @Test func transfersAtOnceLoseNothing() async throws {
    let bank = try await bank()
    let id = try await bank.performBackgroundTask { context in
      let account = Account(owner: "Ada")
      context.insert(account)
      try context.save()
      return account.objectID
    }
    let transfers = (1...20).map { amount in Task { try await transfer(amount, to: id, in: bank) } }
    for transfer in transfers { try await transfer.value }
    #expect(try bank.viewContext.existingObject(Account.self, with: id).balance == 210)
    try await bank.close()
  }

  @Test func anObjectThatLeftItsContextKeepsWhatWasRead() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Ada")
    context.insert(account)
    try context.save()
    let id = account.objectID
    context.reset()
    #expect(account.isDeleted && account.owner == "Ada" && account.objectID == id)
    let again = try context.existingObject(Account.self, with: id)
    #expect(again !== account && again.owner == "Ada")
    try await bank.close()
  }

  @Test func writersAndQueries() async throws {
    let bank = try await bank()
    func print(_ isEqual: Bool) { #expect(isEqual) }

    // Quoted in Docs/Contexts.md
    // One writer after the other; each saves at its end.
    let id = try await bank.write { context in
      let account = Account(owner: "Ada")
      context.insert(account)
      return account.objectID
    }
    try await bank.write { context, shouldSave in
      let account = try context.existingObject(Account.self, with: id)
      account.balance -= 100
      shouldSave = account.balance >= 0
    }

    // Readers at once, beside the writer.
    let balance = try await bank.query { try $0.existingObject(Account.self, with: id).balance }

    // The view context shows what was saved before.
    try bank.waitForViewContext()
    print(try bank.viewContext.existingObject(Account.self, with: id).balance == balance)
    // End of quotation
    #expect(balance == 0)
  }

  @Test func changesWithoutObjects() async throws {
    let bank = try await bank()
    try await bank.write { context in
      for balance in [-10, 0, 20] {
        let account = Account(owner: "\(balance)")
        account.balance = balance
        if balance >= 0 { account.entries.append(Entry(amount: balance)) }
        context.insert(account)
      }
    }
    func print(_ line: String) { #expect(line == "1 accounts charged, 1 deleted") }

    // Quoted in Docs/Contexts.md
    let changed = try await bank.batchUpdate(
      From<Account>().where { $0.balance < 0 },
      .set(\.balance) { $0.balance - 5 },
      .set(\.owner) { $0.owner + " (overdrawn)" }
    )
    let deleted = try await bank.batchDelete(From<Account>().where { $0.entries.count == 0 })
    print("\(changed.count) accounts charged, \(deleted.count) deleted")
    // End of quotation
  }

  @Test func chunks() async throws {
    let bank = try await bank()
    try await bank.write { context in
      for amount in [0, 0, 5] { context.insert(Entry(amount: amount)) }
    }

    // Quoted in Docs/Contexts.md
    do {
      try await bank.batchDelete(From<Entry>().where { $0.amount == 0 }, chunkSize: 1_000)
    } catch {
      print("\(error.committedIDs.count) entries were deleted before it failed: \(error)")
    }
    // End of quotation
    #expect(try await bank.query { try $0.count(From<Entry>()) } == 1)
  }

  @Test func readingAhead() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Ada")
    context.insert(account)
    account.entries.append(Entry(amount: 5))
    try context.save()
    context.reset()
    func print(_ amount: Int, _ owner: String) { #expect(amount == 5 && owner == "Ada") }

    // Quoted in Docs/Contexts.md
    let request = From<Entry>().where { $0.amount > 0 }.prefetching(\.account)
    for entry in try context.fetch(request) {
      print(entry.amount, entry.account?.owner ?? "nobody")  // No look into the store.
    }
    let accounts = try context.fetch(From<Account>().prefetching(\.entries))
    // End of quotation
    #expect(accounts.map(\.entries.count) == [1])
  }

  @Test func partialObjects() async throws {
    let container = try await PersistentContainer("Customers", models: Customer.self, at: .inMemory)
    let context = container.viewContext
    context.insert(Customer(2, name: "Ada"))
    context.insert(Customer(1, name: "Bob"))
    try context.save()
    context.reset()
    var lines: [String] = []
    func print(_ line: Any) { lines.append("\(line)") }

    // Quoted in Docs/Contexts.md
    let listed = try context.fetch(From<Customer>().orderBy(\.number).fetchingOnly(\.number))
    for customer in listed {
      print(customer.number)  // From the index; no record was read.
    }
    print(listed[0].name)  // Reads the record of this customer.
    // End of quotation
    #expect(lines == ["1", "2", "Bob"])
    #expect(try context.explain(From<Customer>().orderBy(\.number).fetchingOnly(\.number)).isCovering)
  }

  @Test func aCommitThatStays() async throws {
    let bank = try await bank()
    try await bank.write { $0.insert(Account(owner: "Ada")) }

    // Quoted in Docs/Contexts.md
    let morning = try bank.pinCommit()
    try await bank.batchUpdate(From<Account>(), .set(\.balance) { $0.balance + 10 })
    let before = try await bank.query(at: morning) { try $0.sum(of: \.balance, in: From<Account>()) }
    let now = try await bank.query { try $0.sum(of: \.balance, in: From<Account>()) }
    morning.release()
    // End of quotation
    #expect(before == 0 && now == 10)
  }

  @Test func uniqueValuesThatExist() async throws {
    let shop = try await PersistentContainer("Shop", models: Customer.self, at: .inMemory)
    let context = shop.viewContext
    context.insert(Customer(7, name: "Ada", city: "London"))
    try context.save()
    func print(_ name: String, _ city: String, _ isDeleted: Bool) {
      #expect(name == "Ada" && city == "Porto" && isDeleted)
    }

    // Quoted in Docs/Contexts.md
    let customer = Customer(7, city: "Porto")
    context.insert(customer)
    try context.save()
    let stored = try context.object(Customer.self, with: customer.objectID)
    print(stored.name, stored.city ?? "", customer.isDeleted)  // Ada Porto true
    // End of quotation
  }

  @Test func aPolicyOfOnesOwn() async throws {
    let bank = try await bank()
    let context = bank.viewContext
    let account = Account(owner: "Ada")
    context.insert(account)
    try context.save()
    let id = account.objectID
    context.automaticallyMergesChangesFromParent = false

    // Quoted in Docs/Contexts.md
    context.mergePolicy = .custom { conflict in
      conflict.resolve(\Account.balance) { base, mine, theirs in mine + theirs - (base ?? 0) }
      conflict.keepTheirs()  // Every other property.
    }
    // End of quotation
    try await bank.write { try $0.existingObject(Account.self, with: id).balance += 5 }
    account.balance += 10
    account.owner = "Augusta"
    try context.save()
    #expect(account.balance == 15 && account.owner == "Augusta")
  }
}
