import Cambium
import Foundation
import Synchronization

/// Begins to migrate the store at a path to the newest version, and is interrupted at a batch of the custom stage,
/// counted from 1.
///
/// - Returns: the batches that the stage began, as ``BatchLog`` has them, and how many of them are saved.
typealias Interruption =
  @Sendable (_ store: String, _ planesInBatch: Int, _ batch: Int) async throws ->
  (begun: [String], savedCount: Int)

/// Interrupts the chain in the middle of its custom stage, and opens the store again.
struct InterruptedChain {
  var store: String
  var planesInBatch: Int
  var planeCount: Int
  var interruption: Interruption

  func run() async throws {
    Terminal.section("6. Killed in the middle of the custom stage")
    print(
      "A second process opens a copy of the store of version 1. SIGKILL within a batch, look, open again.\n"
    )
    let batchCount = (planeCount + planesInBatch - 1) / planesInBatch
    let first = try await interruption(store, planesInBatch, max(1, batchCount / 2))
    try showStop(first.begun, savedCount: first.savedCount)
    let second = BatchLog()
    let plan = FlightsPlan.splitting(inBatchesOf: planesInBatch, watch: second.note)
    try await PersistentContainer.flights(at: store, plan).close()
    try check(Array(first.begun.prefix(first.savedCount)), second.batches, batchCount)
  }

  private func showStop(_ begun: [String], savedCount: Int) throws {
    let version = try StoreMetadata(at: URL(fileURLWithPath: store)).schemaVersion
    guard version == FlightsV3.version else {
      throw DataError(
        path: store,
        message: "is of version \(version?.description ?? "–") after the interruption"
      )
    }
    print(
      "    begun      \(begun.count) batches of \(planesInBatch) planes, the last one \(begun.last ?? "–")"
    )
    print("    saved      \(savedCount) of them")
    print(
      "    version    \(FlightsV3.version): the stages before are done, and of the custom one nothing is to be seen"
    )
  }

  /// - Throws: `DataError` if a saved batch was done again, or a batch was left out.
  private func check(_ saved: [String], _ resumed: [String], _ batchCount: Int) throws {
    guard saved.count + resumed.count == batchCount, Set(saved + resumed).count == batchCount else {
      throw DataError(path: store, message: "went through \(saved) and \(resumed), not \(batchCount) batches")
    }
    print(
      "\n    opened again: goes on with the batch \(saved.count + 1), \(resumed.first ?? "–"), and does \(resumed.count)"
    )
  }
}

/// The batches that a custom stage has gone through, each as its first and last tail number.
final class BatchLog: Sendable {
  private let log = Mutex<[String]>([])

  var batches: [String] { log.withLock(\.self) }

  @Sendable func note(_ batch: MigrationBatch) throws {
    let text = try Self.text(batch)
    log.withLock { $0.append(text) }
  }

  private static func text(_ batch: MigrationBatch) throws -> String {
    let ends = try [batch.objects.first, batch.objects.last].compactMap { plane -> String? in
      try plane?.value("tailnum")
    }
    return ends.joined(separator: " to ")
  }
}
