import Cambium
import Foundation
import Testing

@Model private final class Parcel {
  var depot: String
  var grams: Int

  init(_ depot: String, grams: Int) {
    self.depot = depot
    self.grams = grams
  }
}

struct ComingFromCoreDataStackTests {
  @Test @MainActor func theGuideDoesWhatItSays() async throws {
    // Quoted in Docs/ComingFromCoreDataStack.md
    let stack = try await PersistentContainer("Parcels", models: Parcel.self, at: .inMemory)
    stack.viewContext.isReadOnly = true
    // End of quotation
    let count = try await write(stack)
    #expect(count == 1)
    #expect(try await stack.query { try $0.count(From<Parcel>()) } == 3)
    try stack.waitForViewContext()
    try read(stack)
    #expect(try await query(stack) == [2, 3_100])
    let told = try await watch(stack)
    #expect(told == ["insert at 0"])
    try shutDown(stack)
  }

  private func write(_ stack: PersistentContainer) async throws -> Int {
    // Quoted in Docs/ComingFromCoreDataStack.md
    try await stack.write { context in
      for grams in [300, 2_000, 800] { context.insert(Parcel("Ulm", grams: grams)) }
    }
    // The changes are stored by now. A block that throws saves nothing, and its error comes out here.
    let heavy = try await stack.write { context, shouldSave in
      let removed = try context.deleteAll(From<Parcel>().where { $0.grams > 1_000 })
      shouldSave = removed < 1
      return removed
    }
    // End of quotation
    return heavy
  }

  private func query(_ stack: PersistentContainer) async throws -> [Int] {
    // Quoted in Docs/ComingFromCoreDataStack.md
    async let light = stack.query { try $0.count(From<Parcel>().where { $0.grams < 1_000 }) }
    async let total = stack.query { try $0.sum(of: \.grams, in: From<Parcel>()) }
    let answers = try await [light, total ?? 0]  // Both queries run at once, while others write.
    // End of quotation
    return answers
  }

  @MainActor private func read(_ stack: PersistentContainer) throws {
    // Quoted in Docs/ComingFromCoreDataStack.md
    let context = stack.viewContext
    let parcels = try context.fetch(From<Parcel>().orderBy(\.grams))
    parcels[0].grams = 5
    do { try context.save() } catch { print(error.code) }  // readOnlyContext
    context.rollback()
    // End of quotation
    #expect(parcels.map(\.grams) == [300, 800, 2_000])
    #expect(try dictionaries(context) == 3)
  }

  @MainActor private func dictionaries(_ context: ManagedObjectContext) throws -> Int {
    // Quoted in Docs/ComingFromCoreDataStack.md
    let small = Where<Parcel>(["depot": ["Ulm", "Bonn"], "grams": 1..<1_000])
    let some = small || ["grams": 2_000...]
    let found = try context.fetch(From<Parcel>().where(some))
    // End of quotation
    return found.count
  }

  @MainActor private func watch(_ stack: PersistentContainer) async throws -> [String] {
    var told: [String] = []
    func print(_ line: String) { told.append(line) }
    // Quoted in Docs/ComingFromCoreDataStack.md
    let list = try FetchedResults(From<Parcel>().orderBy(\.grams), in: stack.viewContext)
    let watcher = list.onChange { changes in
      for case .insert(let change) in changes.events {
        print("insert at \(change.newPath!.item)")
      }
    }
    // End of quotation
    try await stack.write { $0.insert(Parcel("Ulm", grams: 1)) }
    try stack.waitForViewContext()
    watcher.cancel()
    return told
  }

  private func shutDown(_ stack: PersistentContainer) throws {
    try stack.writeAndWait { $0.insert(Parcel("Bonn", grams: 90)) }
    try stack.close()
    #expect(throws: ContextError.self) { try stack.queryAndWait { try $0.count(From<Parcel>()) } }
  }
}
