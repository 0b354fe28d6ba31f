import Cambium
import Testing

private enum Lab {
  @Model final class Gauge {
    var level: Float
    var depth: Double
    var newLevel: Float?
    var newDepth: Double?
    init(level: Float, depth: Double) {
      self.level = level
      self.depth = depth
    }
  }
}

/// A calculation beyond the greatest number of its attribute gives nil, for a Float as for a Double.
struct FloatOverflowTests {
  private func open(level: Float, depth: Double) async throws -> PersistentContainer {
    let container = try await PersistentContainer("Lab", models: Lab.Gauge.self, at: .inMemory)
    try await container.write { $0.insert(Lab.Gauge(level: level, depth: depth)) }
    return container
  }

  private func multiplied(level: Float, depth: Double) async throws -> (level: Float?, depth: Double?) {
    let container = try await open(level: level, depth: depth)
    try await container.batchUpdate(
      From<Lab.Gauge>(),
      .set(\.newLevel) { $0.level * 10 },
      .set(\.newDepth) { $0.depth * 10 }
    )
    let levels = try await container.query { try $0.fetch(From<Lab.Gauge>()).map(\.newLevel) }
    let depths = try await container.query { try $0.fetch(From<Lab.Gauge>()).map(\.newDepth) }
    return (levels[0], depths[0])
  }

  @Test func anOverflowIsNil() async throws {
    for sign in [1, -1] {
      let result = try await multiplied(level: Float(sign) * 3e38, depth: Double(sign) * 1e308)
      #expect(result.level == nil && result.depth == nil)
    }
  }

  @Test func aRequiredValueThatOverflowsIsMissing() async throws {
    let container = try await open(level: 3e38, depth: 1e308)
    let assignments: [Assignment<Lab.Gauge>] = [
      .set(\.level) { $0.level * 10 }, .set(\.depth) { $0.depth * 10 },
    ]
    for assignment in assignments {
      let error = await #expect(throws: ContextError.self) {
        try await container.batchUpdate(From<Lab.Gauge>(), assignment)
      }
      #expect(error?.code == .missingValue)
    }
  }

  /// What is infinite already stays so.
  @Test func infinityIsKept() async throws {
    let result = try await multiplied(level: -Float.infinity, depth: Double.infinity)
    #expect(result.level == -Float.infinity && result.depth == Double.infinity)
  }

  @Test func theGreatestFloatIsKept() async throws {
    let result = try await multiplied(level: Float.greatestFiniteMagnitude / 16, depth: 1)
    #expect(result.level == Float.greatestFiniteMagnitude / 16 * 10 && result.depth == 10)
  }
}
