import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

private enum Before {
  @Model final class Reading {
    #Index<Reading>([\.value])
    var value: Int16
    var note: String?
    init(_ value: Int16, _ note: String?) {
      self.value = value
      self.note = note
    }
  }
}

private enum After {
  @Model final class Reading {
    #Index<Reading>([\.value])
    var value: Int
    var remark: String? = "none"
    @Attribute(originalName: "note") var comment: String?
    var unit: String = "°C"
    init(_ value: Int) { self.value = value }
  }
}

/// Records of earlier layouts that are rewritten at once.
struct UpgradeTests {
  private static let count = 1_000

  private func changed(_ url: URL) async throws -> PersistentContainer {
    let before = try await PersistentContainer("Readings", models: Before.Reading.self, at: url)
    try await before.performBackgroundTask { context in
      for number in 0..<Self.count {
        context.insert(Before.Reading(Int16(number - 500), number % 3 == 0 ? nil : "note \(number)"))
      }
      try context.save()
    }
    try await before.close()
    return try await PersistentContainer("Readings", models: After.Reading.self, at: url)
  }

  private func dump(_ container: PersistentContainer) async throws -> [String] {
    try await container.performBackgroundTask { context in
      try context.fetch(From<After.Reading>().orderBy(.ascending(\.value))).map {
        "\($0.objectID.number) \($0.value) \($0.remark ?? "-") \($0.comment ?? "-") \($0.unit)"
      }
    }
  }

  /// How many records have the layout, and their commits.
  private func records(_ container: PersistentContainer, layout: UInt32) throws -> [UInt64] {
    let view = try container.newestView()
    let entity = view.schema.entities[0]
    var commits: [UInt64] = []
    var cursor = try #require(try view.records(of: entity)).cursor()
    while try cursor.next() {
      let record = try cursor.value()
      if RecordLayout.number(of: record) == layout {
        commits.append(record.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
    }
    return commits
  }

  @Test func recordsGetTheNewestLayoutAndNothingElseChanges() async throws {
    let folder = try TemporaryFolder()
    let container = try await changed(URL(fileURLWithPath: folder.file("readings.cambium")))
    let before = try await dump(container)
    #expect(before.first == "1 -500 none - °C" && before[1] == "2 -499 none note 1 °C")
    let commits = try records(container, layout: 0)
    #expect(commits.count == Self.count)
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    let kept = try #require(try context.fetchOne(From<After.Reading>().where(\.value == 7)))
    kept.unit = "K"
    let monitor = MigrationMonitor(chunkByteCount: 4_000)
    #expect(try await container.upgradeRecords(monitor: monitor) == Self.count)
    #expect(monitor.progress.fractionCompleted == 1)
    #expect(try records(container, layout: 0) == [] && records(container, layout: 1) == commits)
    #expect(try await dump(container) == before)
    #expect(try await container.verify().map(\.description) == [])
    // A record that was rewritten is no conflict.
    try context.save()
    context.end()
    #expect(try await container.upgradeRecords() == 0)
    try await container.close()
  }

  @Test func aCancelledUpgradeLeavesBothLayouts() async throws {
    let folder = try TemporaryFolder()
    let container = try await changed(URL(fileURLWithPath: folder.file("readings.cambium")))
    let before = try await dump(container)
    let cancelled = Reports().monitor(cancellingAfter: 3)
    let error = await #expect(throws: ContextError.self) {
      try await container.upgradeRecords(monitor: cancelled)
    }
    #expect(error?.code == .cancelled)
    let upgraded = try records(container, layout: 1).count
    #expect(upgraded > 0 && upgraded < Self.count)
    #expect(try await dump(container) == before)
    #expect(try await container.upgradeRecords() == Self.count - upgraded)
    try await container.close()
  }
}
