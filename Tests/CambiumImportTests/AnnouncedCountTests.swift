import Cambium
import CambiumImport
import Foundation
import Testing

/// The count that a program gives for an input is for the progress alone, and may be wrong.
struct AnnouncedCountTests {
  @Test(arguments: [Int.max, Int.max / 2 + 1, Int.min, -1, 0, 7]) func aWrongCountDoesNoHarm(
    _ count: Int
  ) async throws {
    let tunes = try await Tunes()
    let input = ImportInput<TuneRecord>(isRepeatable: false, count: count) {
      var rest = [TuneRecord(code: "a", title: "new", disc: nil)]
      return { rest.popLast() }
    }
    var options = ImportOptions()
    options.progress = Progress(totalUnitCount: 0)
    let report = try await tunes.container.importRecords(
      input,
      with: TuneRecord.objectImport,
      options: options
    )
    #expect(report.insertedCount == 1)
    #expect(options.progress?.totalUnitCount == 2 && options.progress?.completedUnitCount == 2)
  }
}
