import Cambium
import Foundation

/// A migration in a process of its own, which kills itself within a batch of the custom stage.
enum KilledMigration {
  /// Starts the process, and waits until it is dead: an ``Interruption``.
  @Sendable static func run(
    _ store: String,
    _ planesInBatch: Int,
    _ batch: Int
  ) async throws -> (begun: [String], savedCount: Int) {
    let pipe = Pipe()
    let process = Process.thisProgram(
      [
        "migrate-until-killed", "--store", store, "--planes-in-batch", String(planesInBatch), "--batch",
        String(batch),
      ],
      output: pipe
    )
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .uncaughtSignal else {
      throw DataError(
        path: store,
        message: "the migrating process ended by itself, with status \(process.terminationStatus)"
      )
    }
    let begun = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    return (begun, begun.count - 1)
  }

  /// The work of the process: it writes each batch to standard output, and is killed by SIGKILL at one of them, when
  /// the batch's changes are made and not saved.
  static func die(in batch: Int, of store: String, planesInBatch: Int) async throws {
    let log = BatchLog()
    let plan = FlightsPlan.splitting(inBatchesOf: planesInBatch) { objects in
      try log.note(objects)
      let batches = log.batches
      FileHandle.standardOutput.write(Data("\(batches.last ?? "")\n".utf8))
      if batches.count == batch { kill(getpid(), SIGKILL) }
    }
    try await PersistentContainer("Flights", plan: plan, at: URL(fileURLWithPath: store)).close()
  }
}
