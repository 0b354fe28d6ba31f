import Cambium
import Foundation
import Synchronization
import Testing

import class TestSupport.TemporaryFolder
import struct TestSupport.ToolRun

@testable import ImportPipelineExample

/// The pipeline, over files that succeed and fail.
@Suite(.timeLimit(.minutes(60))) struct ImportPipelineTests {
  private let folder: TemporaryFolder
  private let pipeline: Pipeline

  init() async throws {
    folder = try TemporaryFolder()
    pipeline = try await Pipeline(.inMemory)
  }

  private func file(_ lines: String...) throws -> URL {
    let url = URL(fileURLWithPath: folder.file("lines.jsonl"))
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
    return url
  }

  @Test func theSampleIsImportedWithAProgress() async throws {
    let fractions = Mutex<[Double]>([])
    let summary = try await pipeline.run(Pipeline.sample) { fraction in
      fractions.withLock { $0.append(fraction) }
    }
    #expect(summary.rows.map(\.station) == ["harbour", "hill", "market"])
    #expect(summary.rows.map(\.count) == [24, 24, 24])
    #expect(summary.insertedCount == 75 && summary.updatedCount == 0)
    let told = fractions.withLock { $0 }
    #expect(told == told.sorted() && told.last == 1, "\(told)")
    #expect(told.contains { $0 > 0 && $0 < 1 })
    let again = try await pipeline.run(Pipeline.sample) { _ in }
    #expect(again.insertedCount == 0 && again.rows == summary.rows)
    try pipeline.close()
  }

  @Test func readingsAreUpdatedByTheirNumbers() async throws {
    let first = try file(
      #"{"number":1,"station":"hill","celsius":10}"#,
      #"{"number":2,"station":"hill","celsius":20}"#
    )
    #expect(try await "\(pipeline.run(first) { _ in })" == "hill: 2 readings, 15.0 °C\n3 new, 0 changed")
    let second = try file(#"{"number":2,"station":"market","celsius":30}"#)
    let summary = try await pipeline.run(second) { _ in }
    #expect(
      summary.rows == [
        .init(station: "hill", count: 1, celsius: 10), .init(station: "market", count: 1, celsius: 30),
      ]
    )
    #expect(summary.insertedCount == 1)
    try pipeline.close()
  }

  @Test func lineSeparatorsInAStringEndNoLine() async throws {
    let url = try file("{\"number\":1,\"station\":\"hill\u{2028}top\u{85}\",\"celsius\":10}\r")
    let summary = try await pipeline.run(url) { _ in }
    #expect(summary.rows.map(\.station) == ["hill\u{2028}top\u{85}"])
    try pipeline.close()
  }

  @Test func aFailureComesOutAtTheEndAndChangesNothing() async throws {
    let broken = try file(#"{"number":1,"station":"hill","celsius":10}"#, "warm")
    let error = await #expect(throws: ReadLines.Mistake.self) { try await pipeline.run(broken) { _ in } }
    #expect(error?.line == 2)
    let empty = try file("")
    let summary = try await pipeline.run(empty) { _ in }
    #expect(summary == Summary(insertedCount: 0, updatedCount: 0, rows: []))
    let missing = URL(fileURLWithPath: folder.file("missing.jsonl"))
    await #expect(throws: (any Error).self) { try await pipeline.run(missing) { _ in } }
    try pipeline.close()
  }

  @Test func theBarIsAsLongAsThePart() {
    let bar = ProgressBar(width: 10)
    #expect(bar.line(0) == "[..........] 0 %")
    #expect(bar.line(0.5) == "[#####.....] 50 %")
    #expect(bar.line(1) == "[##########] 100 %")
  }

  /// The program itself, as a shell runs it.
  @Test func theProgramPrintsTheAverages() throws {
    let run = try ToolRun("pipeline", arguments: [folder.file("readings.cambium")])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.lines.last == "75 new, 0 changed" && run.lines.count == 4)
    try pipeline.close()
  }
}
