import Cambium
import Foundation
import Testing

private enum Stock {
  @Model final class Part {
    var name: String
    var number: Int?
    var weight: Double
    init(_ name: String, _ number: Int?, _ weight: Double) {
      self.name = name
      self.number = number
      self.weight = weight
    }
  }
}

/// Lists of values in a condition find the same among objects at hand as in a query.
struct ListedValueFilteringTests {
  private typealias Part = Stock.Part

  private static let conditions: [Where<Part>] = [
    Where { $0.number.in([7, nil, -1]) },
    Where { !$0.number.in([0, 3]) },
    Where { $0.name.in(["", "Bolt", "Nut"]) && $0.weight.in([0, 2.5]) },
    Where { $0.name.in(["ÄPFEL", "bolt"], [.caseInsensitive, .diacriticInsensitive]) || $0.number.in([3]) },
    Where { !$0.weight.in([-1, 0, .nan]) },
  ]

  @Test(arguments: conditions.indices)
  func objectsAtHandAreFoundAsInAQuery(_ index: Int) async throws {
    let container = try await PersistentContainer("Stock", models: Part.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let parts = [
        Part("", -1, 0), Part("Bolt", nil, -0.0), Part("Apfel", 0, 2.5), Part("a\u{308}pfel", 3, .nan),
        Part("Nut", 7, .infinity),
      ]
      let condition = Self.conditions[index]
      let wanted = try parts.filter(matching: condition).map(\.name)
      #expect(!wanted.isEmpty && wanted.count < parts.count)
      for part in parts { context.insert(part) }
      #expect(try parts.filter(matching: condition).map(\.name) == wanted)
      try context.save()
      #expect(try parts.filter(matching: condition).map(\.name) == wanted)
      #expect(try context.fetch(From<Part>().where(condition)).map(\.name) == wanted)
    }
  }
}
