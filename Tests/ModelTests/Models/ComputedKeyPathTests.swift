import Cambium
import Testing

@testable import GraphContext

/// A key path to a computed property is an error, also where the property leaves most values as they are.
struct ComputedKeyPathTests {
  private func names(_ keyPath: PartialKeyPath<Recital>) throws -> [String] {
    try Recital.predicatePath(of: keyPath)
  }

  @Test func aFallbackForAMissingObjectIsNoProperty() throws {
    let error = #expect(throws: QueryError.self) { try names(\.organName) }
    #expect(error?.message.contains("is computed from organ.name") == true)
    #expect(throws: QueryError.self) { try names(\.anyOrgan) }
    #expect(try names(\.organ?.name) == ["organ", "name"])
    #expect(try names(\.organ!.name) == ["organ", "name"])
    #expect(try names(\.organ!) == ["organ"])
    #expect(try names(\.nameOfOrgan) == ["organ", "name"])
  }

  @Test func aFallbackForAMissingEmbeddedValueIsNoProperty() throws {
    #expect(throws: QueryError.self) { try names(\.stageWidth) }
    #expect(try names(\.stage) == ["stage"])
    #expect(try names(\.stage?.width) == ["stage", "width"])
    #expect(try names(\.stage!.width) == ["stage", "width"])
    #expect(throws: QueryError.self) { try names(\.hallDepth) }
    #expect(try names(\.hall.depth) == ["hall", "depth"])
    #expect(try names(\.hall.depth!) == ["hall", "depth"])
    #expect(try names(\.hall.width) == ["hall", "width"])
  }

  @Test func aCaseThatStandsForAnotherIsNoProperty() throws {
    #expect(throws: QueryError.self) { try names(\.knownMood) }
    #expect(try names(\.mood) == ["mood"])
    #expect(try names(\.encore) == ["encore"])
  }

  @Test func aPartOfAListIsNoProperty() throws {
    #expect(throws: QueryError.self) { try names(\.sortedTags) }
    #expect(throws: QueryError.self) { try names(\.shortTags) }
    #expect(throws: QueryError.self) { try names(\.positiveNumbers) }
    #expect(try names(\.tags) == ["tags"])
    #expect(try names(\.numbers) == ["numbers"])
  }

  @Test func aPartOfARelationshipIsNoProperty() throws {
    #expect(throws: QueryError.self) { try names(\.otherStops) }
    #expect(try names(\.stops) == ["stops"])
    #expect(try names(\.sortedStops) == ["stops"])
  }
}

enum RecitalMood: String, AttributeType, CaseIterable {
  case calm, loud, unknown
}

@Embeddable struct RecitalStage: Hashable {
  var width: Int
  var depth: Int?
}

@Model final class PipeOrgan {
  var name: String

  init(name: String) { self.name = name }
}

@Model final class Recital {
  var mood: RecitalMood = .calm
  var encore: RecitalMood?
  var tags: [String] = []
  var numbers: Set<Int> = []
  @Embedded var stage: RecitalStage?
  @Embedded var hall: RecitalStage = RecitalStage(width: 1)
  @Relationship var organ: PipeOrgan?
  @Relationship var stops: [PipeOrgan] = []

  var organName: String { organ?.name ?? "none" }
  var nameOfOrgan: String? { organ?.name }
  var anyOrgan: PipeOrgan { organ ?? PipeOrgan(name: "any") }
  var stageWidth: Int { stage?.width ?? 0 }
  var hallDepth: Int { hall.depth ?? 0 }
  var knownMood: RecitalMood { mood == .unknown ? .calm : mood }
  var sortedTags: [String] { tags.sorted() }
  var shortTags: [String] { tags.filter { $0.count < 3 } }
  var positiveNumbers: Set<Int> { numbers.filter { $0 > 0 } }
  var sortedStops: [PipeOrgan] { stops.sorted { $0.name < $1.name } }
  var otherStops: [PipeOrgan] { Array(stops.dropFirst()) }

  init() {}
}
