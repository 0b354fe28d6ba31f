import Cambium
import CambiumImport
import CambiumOperations

/// Imports the readings of the operation before, part by part, and reports the changes. There is one save at the end:
/// an import that fails or is cancelled changes nothing.
final class ImportReadings: ChangesetOperation, ConsumesResult, @unchecked Sendable {
  // Safety: the slot has a lock.
  @ResultSlot var input: Result<[ReadingRecord], any Error>

  override func performWork(in context: ManagedObjectContext) throws {
    context.author = "pipeline"
    let records = try input.get()
    let partSize = max(1, records.count / 20)
    let cache = ImportedObjectCache(countLimit: 1_000)
    for start in stride(from: 0, to: records.count, by: partSize) where !isCancelled {
      let end = min(start + partSize, records.count)
      try context.importObjects(
        from: Array(records[start..<end]),
        with: ReadingRecord.objectImport,
        cache: cache
      )
      progress.completedUnitCount = Int64(100 * end / records.count)
    }
    saveAndFinish()
  }
}
