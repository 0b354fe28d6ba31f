import ArgumentParser
import Cambium
import Foundation

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Takes a store through four versions of its schema, with a dry run, a refusal and a kill."
  )

  @Option(
    help: "The folder with airlines, airports, planes and flights; the shipped sample if none is named.",
    completion: .directory
  )
  var data: String?

  @Option(help: "Where the store is made; one that is there is replaced.")
  var store = ".build/demo/migrated.cambium"

  func run() async throws {
    let file = URL(fileURLWithPath: store)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try FileManager.default.removeStore(atPath: store)
    try await MigrationWalk(data: FlightsFolder(path: data ?? Sample.folder), store: store).run()
  }
}

/// The process that the walk kills.
struct KilledMigrationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate-until-killed",
    abstract: "Brings a store to the newest version, and kills itself within a batch of the custom stage.",
    shouldDisplay: false
  )

  @Option var store: String
  @Option var planesInBatch: Int
  /// Counted from 1.
  @Option var batch: Int

  func run() async throws {
    try await KilledMigration.die(in: batch, of: store, planesInBatch: planesInBatch)
  }
}
