import Cambium
import Foundation
import Testing

private enum Survey {
  @Model final class Sheet {
    var name: String
    var marks: [Int?] = []
    init(_ name: String, _ marks: [Int?]) {
      self.name = name
      self.marks = marks
    }
  }
}

/// Elements of a list that are nil are elements: they are counted, and meet conditions.
struct MissingElementCountTests {
  private typealias Sheet = Survey.Sheet

  @Test func missingElementsAreCounted() async throws {
    let container = try await PersistentContainer("Survey", models: Sheet.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      let rows: [(String, [Int?])] = [("none", []), ("nil", [nil]), ("one", [1]), ("both", [1, nil])]
      for (name, marks) in rows { context.insert(Sheet(name, marks)) }
      try context.save()
      let all = try context.fetch(From<Sheet>())
      #expect(all.map(\.marks) == [[], [nil], [1], [1, nil]])
      func expect(_ condition: Where<Sheet>, _ holds: (Sheet) -> Bool) throws {
        let wanted = all.filter(holds).map(\.name)
        #expect(try context.fetch(From<Sheet>().where(condition)).map(\.name) == wanted, "\(condition)")
        #expect(try all.filter(matching: condition).map(\.name) == wanted, "\(condition)")
      }
      try expect(Where(format: "ANY marks == nil")) { $0.marks.contains { $0 == nil } }
      try expect(Where(format: "ALL marks != nil")) { $0.marks.allSatisfy { $0 != nil } }
      // Closures make conditions on the number of elements.
      try expect(Where { $0.marks.any { $0 == nil } }) { $0.marks.contains { $0 == nil } }
      try expect(Where { $0.marks.all { $0 != nil } }) { $0.marks.allSatisfy { $0 != nil } }
      try expect(Where { $0.marks.none { $0 == nil } }) { !$0.marks.contains { $0 == nil } }
      try expect(Where { $0.marks.any { $0 != 1 } }) { $0.marks.contains { $0 != 1 } }
      try expect(Where { $0.marks.isEmpty }) { $0.marks.isEmpty }
      try expect(Where { $0.marks.count == 2 }) { $0.marks.count == 2 }
      try expect(Where(format: "marks.@count > 1")) { $0.marks.count > 1 }
      try expect(Where(format: "marks.@count + 0 == 1")) { $0.marks.count == 1 }
      try expect(Where(format: "marks.@distinctUnionOfObjects.@count == 1")) { $0.marks.contains(1) }
      try expect(Where(format: "SUBQUERY(marks, $m, $m == nil).@count > 0")) {
        $0.marks.contains { $0 == nil }
      }
    }
  }
}
