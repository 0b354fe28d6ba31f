import Cambium
import CambiumOperations

/// The work of the pipeline, and the contents of the store afterwards.
public struct Summary: Sendable, Equatable, CustomStringConvertible {
  /// A station's readings.
  public struct Row: Sendable, Equatable {
    /// The station's code.
    public var station: String
    /// The number of its readings.
    public var count: Int
    /// Their average.
    public var celsius: Double
  }

  /// The number of new objects, stations included.
  public var insertedCount: Int
  /// The number of objects that existed before and have other values now.
  public var updatedCount: Int
  /// A row for each station, in the order of their codes.
  public var rows: [Row]

  /// A line for each row, and one for the counts.
  public var description: String {
    let lines = rows.map { "\($0.station): \($0.count) readings, \(($0.celsius * 10).rounded() / 10) °C" }
    return (lines + ["\(insertedCount) new, \(updatedCount) changed"]).joined(separator: "\n")
  }
}

/// Asks the store for the averages, once the operation before has saved its changes.
final class Summarise: StoreOperation<Summary>, ConsumesResult, @unchecked Sendable {
  // Safety: the slot has a lock.
  @ResultSlot var input: Result<Changeset, any Error>

  override func performWork(in context: ManagedObjectContext) throws {
    let changes = try input.get()
    let byStation = From<Reading>().groupBy(\.station?.code).aggregate(.count, .average(\.celsius))
    let rows = try context.fetch(byStation).map { code, count, celsius in
      Summary.Row(station: code ?? "nowhere", count: count, celsius: celsius ?? 0)
    }
    let summary = Summary(
      insertedCount: changes.inserted.count,
      updatedCount: changes.updated.count,
      rows: rows.sorted { $0.station < $1.station }
    )
    finish(with: .success(summary))
  }
}
