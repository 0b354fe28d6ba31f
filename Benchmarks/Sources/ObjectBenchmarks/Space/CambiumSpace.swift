import BenchmarkHarness
import Cambium
import Foundation
import PageStore

/// The measurement of space in Cambium.
struct CambiumSpace {
  private let container: PersistentContainer
  private let folder: String
  private let watch: SizeWatch
  private var sensorIDs: [ManagedObjectID] = []
  private var result: SpaceWorkload.Result

  static func run(objects: Int, folder: String, memory: Int?) async throws -> SpaceWorkload.Result {
    var space = try await CambiumSpace(objects: objects, folder: folder, memory: memory)
    let watch = space.watch
    defer { watch.stop() }
    try await space.load()
    try await space.update()
    try await space.finish()
    return space.result
  }

  private init(objects: Int, folder: String, memory: Int?) async throws {
    var options = StoreOptions()
    if let memory {
      options.cacheBytes = memory
      options.dirtyMemoryBytes = memory
    }
    container = try await PersistentContainer(
      "Space",
      models: Sensor.self,
      Site.self,
      at: URL(fileURLWithPath: folder + "/space.cambium"),
      options: options
    )
    self.folder = folder
    watch = SizeWatch(folder)
    result = SpaceWorkload.Result(peer: ObjectReport.ownName, objects: objects)
  }

  private mutating func load() async throws {
    let siteIDs = try await storeSites()
    sensorIDs.reserveCapacity(result.objects)
    let start = ContinuousClock.now
    for first in stride(from: 0, to: result.objects, by: SpaceWorkload.saveCount) {
      let numbers = first..<min(result.objects, first + SpaceWorkload.saveCount)
      let ids = try await container.performBackgroundTask { context in
        let sites = try siteIDs.map { try context.object(Site.self, with: $0) }
        let sensors = numbers.map { number in
          let data = SensorData(number: number)
          let sensor = Sensor(data, site: sites[data.site])
          context.insert(sensor)
          return sensor
        }
        try context.save()
        return sensors.map(\.objectID)
      }
      sensorIDs += ids
      result.largestLoadRatio = try max(result.largestLoadRatio, largestRatio())
    }
    result.loadSeconds = (ContinuousClock.now - start) / .seconds(1)
    result.loadedBytes = try StoredBytes(of: folder).allocated
  }

  private func storeSites() async throws -> [ManagedObjectID] {
    try await container.performBackgroundTask { context in
      let sites = (0..<SensorData.siteCount).map { Site(name: "site \($0)") }
      for site in sites { context.insert(site) }
      try context.save()
      return sites.map(\.objectID)
    }
  }

  private mutating func update() async throws {
    result.largestRatio = result.largestLoadRatio
    let updateCount = SpaceWorkload.updatesPerSave
    var generator = SeededGenerator(seed: 7)
    let start = ContinuousClock.now
    for save in 0..<SpaceWorkload.updateSaves {
      let changed = (0..<updateCount).map { _ in
        sensorIDs[Int.random(in: 0..<result.objects, using: &generator)]
      }
      try await container.performBackgroundTask { context in
        for (index, id) in changed.enumerated() {
          let sensor = try context.object(Sensor.self, with: id)
          sensor.reading = Double(save * updateCount + index) / 1_000_003
        }
        try context.save()
      }
      result.largestRatio = try max(result.largestRatio, largestRatio())
    }
    result.updateSeconds = (ContinuousClock.now - start) / .seconds(1)
    result.updatedBytes = try StoredBytes(of: folder).allocated
  }

  private mutating func finish() async throws {
    try await container.checkpoint()
    result.liveBytes = Int(try container.spaceLedger().liveBytes)
    try await container.close()
    result.closedBytes = try StoredBytes(of: folder).allocated
  }

  /// Returns the largest size of the file since the last call, as a multiple of the bytes of the newest commit's pages,
  /// in the file or only in memory.
  private func largestRatio() throws -> Double {
    let ledger = try container.spaceLedger()
    return Double(watch.takeLargest()) / Double(ledger.liveBytes + ledger.unwrittenBytes)
  }
}
