import Cambium
import Foundation
import Testing

/// A getter can't throw. A value that it couldn't read must not be saved, and must not be returned from its block.
struct UnreadableValueTests {
  /// The model of an older program.
  enum Older {
    @Model final class Paint {
      var name: String
      var colour: String
      init(name: String, colour: String) {
        self.name = name
        self.colour = colour
      }
    }
  }

  /// The same entity, but this type lacks one of the stored values.
  enum Newer {
    enum Colour: String, AttributeType, CaseIterable {
      case red
      case green
    }

    @Model final class Paint {
      var name: String
      var colour: Colour
      init(name: String, colour: Colour) {
        self.name = name
        self.colour = colour
      }
    }
  }

  /// Runs the body with a store with a red and a mauve paint, in a program whose type has no mauve.
  private func withPaints(_ body: (PersistentContainer) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("paints.cambium")
    let older = try await PersistentContainer("Paints", models: Older.Paint.self, at: url)
    try await older.performBackgroundTask { context in
      context.insert(Older.Paint(name: "A", colour: "red"))
      context.insert(Older.Paint(name: "B", colour: "mauve"))
      try context.save()
    }
    try await older.close()
    let newer = try await PersistentContainer("Paints", models: Newer.Paint.self, at: url)
    try await body(newer)
    try await newer.close()
  }

  @Test func aResultThatRestsOnItDoesNotLeaveTheBlock() async throws {
    try await withPaints { container in
      let error = await #expect(throws: ContextError.self) {
        try await container.performBackgroundTask { context in
          try context.fetch(From<Newer.Paint>()).map(\.colour)
        }
      }
      #expect(error?.code == .corrupt)
      #expect(error?.description.contains("Paint.colour") == true)
      let names = try await container.performBackgroundTask { context in
        try context.fetch(From<Newer.Paint>().orderBy(.ascending(\.name))).map(\.name)
      }
      #expect(names == ["A", "B"], "what isn't touched does no harm")
    }
  }

  @Test func nothingIsSavedAfterIt() async throws {
    try await withPaints { container in
      await #expect(throws: ContextError.self) {
        try await container.performBackgroundTask { context in
          for paint in try context.fetch(From<Newer.Paint>()) where paint.colour == .red {
            paint.name = "Red"
          }
          try context.save()
        }
      }
      let names = try await container.performBackgroundTask { context in
        try context.fetch(From<Newer.Paint>().orderBy(.ascending(\.name))).map(\.name)
      }
      #expect(names == ["A", "B"])
    }
  }

  @Test func aRollbackMakesTheContextUsableAgain() async throws {
    try await withPaints { container in
      try await container.performBackgroundTask { context in
        let paints = try context.fetch(From<Newer.Paint>())
        _ = paints.map(\.colour)
        #expect(throws: ContextError.self) { try context.count(From<Newer.Paint>()) }
        context.rollback()
        #expect(try context.count(From<Newer.Paint>()) == 2)
        // It can be repaired.
        for paint in paints where paint.name == "B" { paint.colour = .green }
        try context.save()
        #expect(
          try context.fetch(From<Newer.Paint>()).map(\.colour).sorted { $0.rawValue < $1.rawValue } == [
            .green, .red,
          ]
        )
      }
    }
  }
}
