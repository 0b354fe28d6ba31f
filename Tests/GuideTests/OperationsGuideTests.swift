import Cambium
import CambiumOperations
import Foundation
import Testing

import class TestSupport.TemporaryFolder

@Model final class Stamp {
  var country: String
  var year: Int

  init(_ country: String, _ year: Int) {
    self.country = country
    self.year = year
  }
}

// Quoted in Docs/Operations.md
/// Reads a line for each stamp: `Brazil 1843`.
final class ParseStamps: ResultOperation<[Stamp.Values]>, @unchecked Sendable {
  // Safety: the text never changes.
  private let text: String

  init(_ text: String) {
    self.text = text
    super.init()
  }

  override func execute() {
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
    let stamps = lines.compactMap { words in
      words.count == 2 ? Int(words[1]).map { Stamp.Values(country: String(words[0]), year: $0) } : nil
    }
    finish(with: .success(stamps))
  }
}
// End of quotation

// Quoted in Docs/Operations.md
/// Inserts what the operation before has made, and says what has changed.
final class InsertStamps: ChangesetOperation, ConsumesResult, @unchecked Sendable {
  // Safety: the slot has a lock.
  @ResultSlot var input: Result<[Stamp.Values], any Error>

  override func performWork(in context: ManagedObjectContext) throws {
    for stamp in try input.get() { try context.insert(stamp) }
    saveAndFinish()
  }
}
// End of quotation

@Suite(.timeLimit(.minutes(60))) struct OperationsGuideTests {
  private let folder: TemporaryFolder
  private let container: PersistentContainer

  init() async throws {
    folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("stamps"))
    container = try await PersistentContainer("Stamps", models: Stamp.self, at: url)
  }

  private let text = "Brazil 1843\nMauritius 1847\n"

  @Test func aChainIsRun() async throws {
    let container = container
    let (text, queue) = (text, OperationQueue())
    // Quoted in Docs/Operations.md
    let insertion = ParseStamps(text).passesResult(to: InsertStamps(container))
    insertion.addResultBlock { result in
      if case .failure(let error) = result { print("nothing was inserted: \(error)") }
    }
    let observation = insertion.chainProgress().onChange { print("\(Int($0 * 100)) %") }
    insertion.enqueue(on: queue)
    // End of quotation
    #expect(try await insertion.result().inserted.count == 2)
    observation.cancel()
  }

  @Test func oneFunctionDoesTheSame() async throws {
    let container = container
    let text = text
    // Quoted in Docs/Operations.md
    let changes = try await ParseStamps(text).passesResult(to: InsertStamps(container)).run()
    // End of quotation
    #expect(changes.inserted.count == 2)
    // Quoted in Docs/Operations.md
    let ids = try await container.write { context in
      let stamps = text.split(separator: "\n").map { $0.split(separator: " ") }
      return stamps.map { words in
        let stamp = Stamp(String(words[0]), Int(words[1]) ?? 0)
        context.insert(stamp)
        return stamp.objectID
      }
    }
    // End of quotation
    #expect(ids.count == 2)
  }

  @Test func storeOperationsAreChained() async throws {
    let container = container
    try await ParseStamps(text).passesResult(to: InsertStamps(container)).run()
    // Quoted in Docs/Operations.md
    let old = From<Stamp>().where { $0.year < 1845 }
    let deletion = TaskOperation.batchDelete(old, in: container)
    let rest = FetchOperation(container, From<Stamp>().orderBy(\.year)) { $0.country }
    deletion.then(do: rest)
    let countries = try await rest.run()
    // End of quotation
    #expect(countries == ["Mauritius"])
  }

  @Test func manyAreCombinedAndRetried() async throws {
    struct Flaky: Error {}
    let countries = ["Brazil", "Mauritius"]
    let download = { @Sendable (country: String) async throws -> Int in country.count }
    // Quoted in Docs/Operations.md
    let downloads = countries.map { country in
      TaskOperation(retryStrategy: .repeat(times: 3)) { try await download(country) }
    }
    let all = downloads.passesResults(to: CombineOperation())
    let group = all.group(collateProgress: true)
    let done = group.then(do: BlockResultOperation { print("all downloaded") })
    let progress = done.enqueueWithProgress()
    for await fraction in progress.fractions() { print("\(Int(fraction * 100)) %") }
    // End of quotation
    #expect(try all.output.get() == [6, 9])
  }
}
