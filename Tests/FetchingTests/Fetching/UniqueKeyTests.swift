import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext
@testable import Predicates

/// Queries for the object with a value of a unique attribute: recognised by their names, they answer as every other query does.
struct UniqueKeyTests {
  @Test func aKeyFindsItsObject() async throws {
    let container = try await PersistentContainer("keys", models: Specimen.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      let labels: [String?] = ["", "a", "b", "é", "e\u{301}", nil, nil, String(repeating: "x", count: 300)]
      for label in labels {
        let specimen = Specimen()
        specimen.label = label
        context.insert(specimen)
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for label in labels + ["c", "A", "aa"] {
          let expected = labels.filter { $0.map { Array($0.utf8) } == label.map { Array($0.utf8) } }
          let request = From<Specimen>().where(\.label == label)
          let found = try context.fetch(request)
          // By their bytes: é and e with an accent are equal strings, and two keys.
          #expect(found.map { $0.label.map { Array($0.utf8) } } == expected.map { $0.map { Array($0.utf8) } })
          #expect(try context.count(request) == expected.count)
          #expect(try context.fetchIDs(request) == found.map(\.objectID))
          #expect(try context.fetch(request.limit(0)).isEmpty)
          #expect(try context.fetch(request.offset(1)).count == max(0, expected.count - 1))
          #expect(try context.fetch(request.orderBy(.ascending(\.small))).count == expected.count)
          #expect(try context.fetch(request.where(\.small == 1)).isEmpty)
        }
      }
    }
  }

  @Test func aKeyIsSeenWithTheContextsChanges() async throws {
    let container = try await PersistentContainer("keys", models: Specimen.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      let specimen = Specimen()
      specimen.label = "a"
      context.insert(specimen)
      try context.save()
      specimen.label = "b"
      let (old, new) = (From<Specimen>().where(\.label == "a"), From<Specimen>().where(\.label == "b"))
      #expect(try context.fetch(old).isEmpty)
      #expect(try context.fetch(new) == [specimen])
      #expect(try context.fetch(old.includingUnsavedChanges(false)) == [specimen])
      context.delete(specimen)
      #expect(try context.fetch(new).isEmpty)
      context.rollback()
      #expect(try context.fetchOne(old) === specimen)
    }
  }

  @Test func onlyAValueOfTheAttributesKindIsAKey() async throws {
    let container = try await PersistentContainer("keys", models: Gauge.self, Reading.self, at: .inMemory)
    try await container.performBackgroundTask { context throws in
      for code in [-1, 0, 7] { context.insert(Gauge(code)) }
      try context.save()
      let entity = context.entity(of: Gauge.self).schema
      func key(_ text: String) throws -> UniqueKey? {
        NamedQuery(predicate: try PredicateTree(format: text)).resolvedByKey(for: entity)?.key
      }
      #expect(try key("code == 7") != nil)
      for other in [
        "code == 7.0", "code == nil", "code != 7", "code > 7", "code == 7 AND code == 7",
        "readings.@count == 7",
      ] {
        #expect(try key(other) == nil, "\(other)")
      }
      for (text, count) in [
        ("code == 7", 1), ("code == 7.0", 1), ("code == 7.5", 0), ("7 == code", 1), ("code == 9", 0),
      ] {
        let request = From<Gauge>().where(format: text)
        #expect(try context.fetch(request).count == count, "\(text)")
        #expect(try context.count(request) == count, "\(text)")
      }
    }
  }
}
