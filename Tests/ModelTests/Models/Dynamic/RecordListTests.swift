import Cambium
import Foundation
import TestSupport
import Testing

@Model final class MarkedDial {
  var marks: [Int8] = []
  var ratios: [Float] = []
  init() {}
}

/// Lists of values that are set by name.
struct RecordListTests {
  @Test func aRecordRefusesElementsThatAreOutOfRange() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("dials"))
    try await PersistentContainer("Dials", models: MarkedDial.self, at: url).close()
    let container = try await PersistentContainer("Dials", at: url)
    try await container.performBackgroundTask { context in
      let dial = try context.insert(entity: "MarkedDial")
      let tooGreat = #expect(throws: ContextError.self) { try dial.set("marks", to: .string("[300]")) }
      #expect(tooGreat?.code == .wrongValue)
      let noFloat = #expect(throws: ContextError.self) { try dial.set("ratios", to: .string("[0.1]")) }
      #expect(noFloat?.code == .wrongValue)
    }
  }
}
