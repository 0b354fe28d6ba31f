import Cambium
import Foundation
import PageStore
import TestSupport
import Testing

@testable import GraphContext

private enum Before {
  @Model final class Probe {
    var code: String
    var level: Int16
    var note: String?
    var weight: Double?
    var site: Data
    init(_ number: Int) {
      code = "P\(number % 17)"
      level = Int16(number % 50 - 25)
      note = number % 3 == 0 ? nil : "note \(number % 5)"
      weight = number % 4 == 0 ? nil : Double(number % 7)
      site = Data([UInt8(number % 9)])
    }
  }
}

private enum After {
  @Model final class Probe {
    var unit: String = "°C"
    var site: Data
    var code: String
    var remark: String? = "none"
    var level: Int
    @Attribute(originalName: "note") var comment: String?
    var weight: Double = 0.5
    var rank: Int = 3
    @Relationship var next: Probe?
    init(_ number: Int) {
      site = Data([UInt8(number % 9)])
      code = "P\(number % 17)"
      level = number % 50 - 25
      unit = "K"
      rank = number
    }
  }
}

/// Filters, aggregates, orders and columns over records of several layouts of an entity. They read a few values of
/// each record. Their results are those of records that all have the newest layout.
struct MixedLayoutTests {
  private static let count = 600

  /// Two of three records have the earlier layout.
  private func mixed(_ url: URL) async throws -> PersistentContainer {
    let before = try await PersistentContainer("Probes", models: Before.Probe.self, at: url)
    try await before.performBackgroundTask { context in
      for number in 0..<Self.count { context.insert(Before.Probe(number)) }
      try context.save()
    }
    try await before.close()
    let container = try await PersistentContainer("Probes", models: After.Probe.self, at: url)
    try await container.performBackgroundTask { context in
      let probes = try context.fetch(From<After.Probe>())
      for (place, probe) in probes.enumerated() where place % 3 == 0 {
        probe.next = probes[(place * 7 + 1) % probes.count]
      }
      for number in 0..<20 { context.insert(After.Probe(number)) }
      try context.save()
    }
    return container
  }

  private let conditions = [
    "level > 3", "level == -25 OR rank != 3", "comment == NIL", "comment ENDSWITH '4' AND weight < 2",
    "remark == 'none'", "unit == '°C'", "weight == 0.5", "code BEGINSWITH 'P1' AND comment != NIL",
    "next.level > 0", "next.comment == 'note 1'", "site == $site", "next == NIL AND code == 'P3'",
    "TRUEPREDICATE",
  ]

  private func answers(_ context: ManagedObjectContext) throws -> [String] {
    var answers: [String] = []
    for condition in conditions {
      let format = condition.replacingOccurrences(of: "$site", with: "%@")
      let all =
        format == condition
        ? From<After.Probe>().where(format: format) : From<After.Probe>().where(format: format, Data([4]))
      answers.append("\(condition): \(try context.count(all))")
      answers += try context.fetch(all).map(text)
      answers += try context.fetch(all.orderBy(.descending(\.comment), .ascending(\.level)).limit(9)).map(
        text
      )
      answers += try context.fetch(all.orderBy(.ascending(\.weight))).map(text)
      let sums = try context.aggregate(.sum(\.level), .average(\.weight), .max(\.level), .count, in: all)
      answers.append("\(sums)")
      let groups = all.groupBy(\.code).aggregate(.sum(\.rank), .min(\.rank), .count)
      answers += try context.fetch(groups).map { "\($0)" }
      answers += try context.fetch(all.select(\.remark, \.code, \.level)).map { "\($0)" }
      try context.forEach(all) { answers.append(text($0)) }
    }
    return answers
  }

  private func text(_ probe: After.Probe) -> String {
    let values = "\(probe.unit) \(Array(probe.site)) \(probe.code) \(probe.remark ?? "-") \(probe.level)"
    let rest = "\(probe.comment ?? "-") \(probe.weight) \(probe.rank) \(probe.next?.code ?? "-")"
    return "\(probe.objectID.number): \(values) \(rest)"
  }

  @Test func answersAreThoseOfTheNewestLayout() async throws {
    let folder = try TemporaryFolder()
    let container = try await mixed(URL(fileURLWithPath: folder.file("probes.cambium")))
    let before = try await container.performBackgroundTask { try answers($0) }
    #expect(try await container.upgradeRecords() == Self.count * 2 / 3)
    let after = try await container.performBackgroundTask { try answers($0) }
    #expect(before == after)
    #expect(Set(before).count > Self.count)
    try await container.close()
  }
}
