import Cambium
import Predicates
import Testing

@testable import GraphContext

@Model final class OverfullLetter {
  var sender: String
  var text: String

  init(_ sender: String, _ text: String) {
    self.sender = sender
    self.text = text
  }
}

/// Saves of objects whose values are too long for a record. The encoder's limit is a parameter here.
struct OverfullSaveTests {
  private let container: PersistentContainer
  private let entity: StoredEntity
  private let changes: EntityChanges
  private let sender: Int
  private let text: Int

  init() async throws {
    let container = try await PersistentContainer("Letters", models: OverfullLetter.self, at: .inMemory)
    let entity = try #require(container.coordinator.schema.entity(named: "OverfullLetter"))
    let names = entity.schema.stored.map(\.name)
    sender = try #require(names.firstIndex(of: "sender"))
    text = try #require(names.firstIndex(of: "text"))
    (self.container, self.entity, changes) = (container, entity, EntityChanges(entity))
    changes.encoder = RecordEncoder(layout: entity.layout, variableByteLimit: 16)
  }

  /// Saves a letter for each pair of values, and returns the error of the save.
  private func failure(
    ofSaving letters: [(sender: AttributeValue, text: AttributeValue)]
  ) throws -> ContextError? {
    let coordinator = container.coordinator
    let checks = RecordChecks(coordinator)
    var failures = SaveFailures()
    for letter in letters {
      let number = try coordinator.engine.takeNumber(of: entity, timeout: nil)
      changes.encoder.begin()
      for slot in entity.slotsByPlace {
        if slot == sender { _ = changes.encoder.set(letter.sender, at: slot) }
        if slot == text { _ = changes.encoder.set(letter.text, at: slot) }
      }
      let bytes = changes.encoder.finish()
      let record = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
      checks.check(record, refused: changes.encoder.refused, number, entity, &failures)
      changes.inserted.append(.init(number: number, bytes: bytes))
    }
    let noted = failures
    do throws(ContextError) {
      _ = try coordinator.engine.commit(nil, turn: .waiting(timeout: nil), showsValues: true) { base in
        SaveRequest(
          entities: [changes],
          baseCommit: base.commit,
          conflicts: [],
          deletedInParent: [],
          failures: noted
        )
      } reviewing: { _, _, _, _ in
        true
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func theErrorListsAllFailures() throws {
    let error = try failure(ofSaving: [
      (.null, .string("short")), (.string("me"), .string("longer than a record")),
    ])
    let failures = error?.failures ?? []
    #expect(failures.map(\.code) == [.missingValue, .wrongValue])
    #expect(failures.map(\.context.properties) == [["sender"], ["text"]])
    #expect(failures.allSatisfy { $0.context.objectID != nil })
    #expect(failures.last?.message.contains("at most 4,294,967,295 bytes") == true)
  }

  /// One value has the wrong kind, and another one is too long: each has its own failure.
  @Test func eachRefusedValueHasAFailure() throws {
    let error = try failure(ofSaving: [(.int(5), .string("longer than a record"))])
    let failures = error?.failures ?? []
    #expect(failures.map(\.code) == [.wrongValue, .wrongValue])
    #expect(failures.map(\.context.properties) == [["sender"], ["text"]])
    #expect(failures.first?.message.contains("is no string") == true)
    #expect(failures.last?.message.contains("OverfullLetter.text, are too long together") == true)
  }

  @Test func valuesWithinTheLimitAreSaved() throws {
    let error = try failure(ofSaving: [(.string("me"), .string("short"))])
    #expect(error == nil)
  }
}
