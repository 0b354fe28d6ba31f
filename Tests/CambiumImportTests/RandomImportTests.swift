import Cambium
import CambiumImport
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Random imports beside a dictionary of the expected rows.
struct RandomImportTests {
  private struct Row: Equatable {
    var title = ""
    var plays = 0
    var disc: Int?
  }

  @Test func importsAgreeWithADictionary() async throws {
    var random = SeededGenerator("importsAgreeWithADictionary")
    for _ in 0..<6 {
      let tunes = try await Tunes()
      let cache = ImportedObjectCache(countLimit: Bool.random(using: &random) ? 0 : 20)
      var expected: [String: Row] = [:]
      for round in 0..<12 {
        var options = ImportOptions()
        if Bool.random(using: &random) { options.cache = cache }
        if Bool.random(using: &random) {
          options.commits = .eachBatch(of: Int.random(in: 1...40, using: &random))
        }
        if Bool.random(using: &random) { options.relationships = .afterEachBatch }
        let isRepeatable = Bool.random(using: &random)
        let fails = Int.random(in: 0..<4, using: &random) == 0
        let rule: DuplicateRule = Bool.random(using: &random) ? .everyInOrder : .lastWins
        let records = (0..<Int.random(in: 0..<120, using: &random)).map { number in
          TuneRecord(
            code: "\(Int.random(in: 0..<80, using: &random))",
            title: "\(round).\(number)",
            disc: Bool.random(using: &random) ? Int.random(in: 0..<6, using: &random) : nil
          )
        }
        var description = TuneRecord.objectImport
        description.duplicates = rule
        description.shouldInsert = { record, _ in record.disc != 5 }
        description.shouldUpdate = { record, _ in record.disc != 4 }
        if fails, options.commits == .once {
          let update = try #require(description.updateProperties)
          let last = records.last?.title
          description.updateProperties = { record, tune, context in
            try update(record, tune, context)
            if record.title == last { throw Refusal() }
          }
        }
        let input = ImportInput<TuneRecord>(isRepeatable: isRepeatable) {
          var iterator = records.makeIterator()
          return { iterator.next() }
        }
        do {
          let report = try await tunes.container.importRecords(input, with: description, options: options)
          expected = Self.imported(records, rule, into: expected, batchCount: options.commits)
          let sum = report.insertedCount + report.updatedCount + report.refusedCount
          #expect(report.recordCount == records.count && sum == records.count)
        } catch is Refusal {}
        #expect(try await rows(of: tunes) == expected, "round \(round)")
        if !(try tunes.container.verifyAll().isEmpty) { Issue.record("the store is not sound") }
      }
    }
  }

  /// The rows after an import, record by record.
  private static func imported(
    _ records: [TuneRecord],
    _ rule: DuplicateRule,
    into rows: [String: Row],
    batchCount: ImportOptions.Commits
  ) -> [String: Row] {
    var rows = rows
    let size =
      switch batchCount {
      case .once: max(1, records.count)
      case .eachBatch(let count): count
      }
    var linked: [TuneRecord] = []
    for start in stride(from: 0, to: records.count, by: size) {
      var batch = Array(records[start..<min(records.count, start + size)])
      if rule == .lastWins {
        var last: [String: TuneRecord] = [:]
        for record in batch { last[record.code] = record }
        var seen: Set<String> = []
        batch = batch.filter { seen.insert($0.code).inserted }.map { last[$0.code]! }
      }
      for record in batch {
        if rows[record.code] == nil ? record.disc == 5 : record.disc == 4 { continue }
        rows[record.code, default: Row()].title = record.title
        rows[record.code]?.plays += 1
        linked.append(record)
      }
    }
    // Relationships follow in the order of the records, whether batch by batch or at the end.
    for record in linked { rows[record.code]?.disc = record.disc }
    return rows
  }

  private func rows(of tunes: Tunes) async throws -> [String: Row] {
    try await tunes.container.query { context in
      var rows: [String: Row] = [:]
      for tune in try context.fetch(From<Tune>()) {
        #expect(rows[tune.code] == nil)
        rows[tune.code] = Row(title: tune.title, plays: tune.plays, disc: tune.disc?.number)
      }
      return rows
    }
  }
}

extension PersistentContainer {
  fileprivate func verifyAll() throws -> [String] { try verify().map(\.description) }
}
