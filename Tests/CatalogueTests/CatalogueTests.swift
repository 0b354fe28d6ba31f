import Cambium
import Foundation
import Testing

import class TestSupport.TemporaryFolder
import struct TestSupport.ToolRun

@testable import CatalogueExample

/// The catalogue, by each of its ways.
@MainActor struct CatalogueTests {
  private let folder: TemporaryFolder
  private let catalogue: Catalogue
  private let list = """
    The party
      i3: Tea (), Cheese (Gouda ×2, Feta ×0)
    The week
      i2: Fruit (Pear ×4, Apple ×12)
      i1: Bread (Rye ×1)
    2 carts, 3 items, 4 categories, 5 products
    """

  init() async throws {
    folder = try TemporaryFolder()
    catalogue = try await Catalogue(URL(fileURLWithPath: folder.file("catalogue.cambium")))
  }

  private func run(_ lines: String...) async -> String {
    var output = ""
    for line in lines { output = await catalogue.perform(line) }
    return output
  }

  @Test(arguments: Catalogue.Route.allCases.map(\.rawValue))
  func eachWayImportsTheSame(_ route: String) async throws {
    #expect(await run("import \(route)", "list") == list)
    // By another way nothing new comes.
    #expect(await run("import view", "import task", "import background", "list") == list)
    try catalogue.close()
  }

  @Test func theWholeFlow() async throws {
    #expect(
      await run("delete") == "0 products deleted\n0 categories deleted\n0 items deleted\n0 carts deleted"
    )
    #expect(await run("import task") == "2 carts, 3 items, 4 categories, 5 products")
    #expect(
      await run("delete") == "5 products deleted\n4 categories deleted\n3 items deleted\n2 carts deleted"
    )
    #expect(await run("reset", "list") == "0 carts, 0 items, 0 categories, 0 products")
    for route in Catalogue.Route.allCases {
      #expect(
        await run("import \(route.rawValue)", "recreate", "list")
          == "0 carts, 0 items, 0 categories, 0 products"
      )
    }
    #expect(await run("import view", "list") == list)
    try catalogue.close()
  }

  @Test func aCategoryBelongsToTheLastItemThatHasNamedIt() async throws {
    _ = await run("import task")
    let context = try catalogue.context
    for (code, owner) in [("fruit", "i2"), ("bread", "i1"), ("cheese", "i3"), ("tea", "i3")] {
      let request = From<CatalogueExample.Category>().where { $0.code == code }
      let category = try #require(try context.fetchOne(request))
      #expect(category.item?.code == owner)
      let owners = try context.fetch(From<InventoryItem>()).filter {
        $0.categories.contains { $0 === category }
      }
      #expect(owners.map(\.code) == [owner])
      #expect(category.products.allSatisfy { $0.category === category })
    }
    try catalogue.close()
  }

  @Test func aCartTakesItsTreeAlong() async throws {
    _ = await run("import task")
    #expect(await run("remove week") == "1 carts, 1 items, 2 categories, 2 products")
    #expect(await run("remove week") == "There is no cart week.")
    #expect(await run("remove party", "list") == "0 carts, 0 items, 0 categories, 0 products")
    try catalogue.close()
  }

  @Test func resettingDropsWhatIsUnsaved() async throws {
    _ = await run("import task")
    let context = try catalogue.context
    try context.fetch(From<Cart>()).forEach { $0.name = "unsaved" }
    #expect(context.hasChanges)
    #expect(await run("reset", "list") == list)
    #expect(!context.hasChanges)
    try catalogue.close()
  }

  @Test func mistakesAreSaid() async throws {
    #expect(await run("import") == Catalogue.summary)
    #expect(await run("import task nowhere.json").hasPrefix("It didn't work"))
    let file = folder.file("other.json")
    try Data("[]".utf8).write(to: URL(fileURLWithPath: file))
    #expect(await run("import view \(file)").hasPrefix("It didn't work"))
    #expect(await run("list") == "0 carts, 0 items, 0 categories, 0 products")
    #expect(await run("quit").isEmpty && !catalogue.isRunning)
    try catalogue.close()
  }

  /// The program itself, as a shell runs it.
  @Test func theProgramReadsAScript() async throws {
    try catalogue.close()
    let script = folder.file("flow.txt")
    let ways = Catalogue.Route.allCases.map { "import \($0.rawValue)" }
    let lines = ["delete", "reset"] + ways + ["list", "delete", "quit"]
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: script))
    let run = try ToolRun("catalogue", arguments: [folder.file("other.cambium"), "--script", script])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    let counts = "2 carts, 3 items, 4 categories, 5 products"
    #expect(run.lines.filter { $0 == counts }.count == 4)
    #expect(run.output.contains(list) && run.output.hasSuffix("3 items deleted\n2 carts deleted\n\n"))
  }
}
