import BenchmarkHarness
import Cambium
import Foundation

/// A stage that makes an entity of an attribute: the sites out of the samples.
enum StageWorkload {
  struct Result: Codable {
    var objects: Int
    /// The bytes of the store before the stage, and after.
    var fileBytes: Int
    var newFileBytes: Int
    var seconds: Double
    /// Bytes handed to the system to be written.
    var writtenBytes: Int
    /// The most memory that the process used, and the memory that it used before it opened the store.
    var peakBytes: Int
    var idlePeakBytes: Int
  }

  enum First: VersionedSchema {
    static let version = Schema.Version(1)
    static var models: [any ManagedObject.Type] { [Earlier.Sample.self] }
  }

  enum Second: VersionedSchema {
    static let version = Schema.Version(2)
    static var models: [any ManagedObject.Type] { [Sample.self, Site.self] }

    @Model
    final class Sample {
      #Unique<Sample>([\.code])
      #Index<Sample>([\.kind])

      var code: String
      @Relationship var site: Site
      var kind: Int
      var level: Int16
      var rank: Int
      var reading: Double
      var taken: Date
      var note: String?

      init(_ data: SampleData, at site: Site) {
        code = data.code
        kind = data.kind
        level = data.level
        rank = data.rank
        reading = data.reading
        taken = data.taken
        note = data.note
        self.site = site
      }
    }

    @Model
    final class Site {
      #Unique<Site>([\.name])

      var name: String
      @Relationship(deleteRule: .cascade, inverse: \Sample.site) var samples: ToMany<Sample> = []

      init(_ name: String) { self.name = name }
    }
  }

  static let plan = MigrationPlan(
    [First.self, Second.self],
    stages: [.custom(from: First.self, to: Second.self, .forEach("Sample", splitSites))]
  )

  @Sendable private static func splitSites(_ batch: MigrationBatch) throws {
    var sites = [String: ManagedRecord]()
    for sample in batch.objects {
      let name: String = try sample.value("site") ?? ""
      let site = try sites[name] ?? batch.new.findOrInsert(entity: "Site", with: ["name": .string(name)])
      sites[name] = site
      try batch.successor(of: sample)?.setObject("site", to: site)
    }
  }

  /// Runs the stage on a store of the first version. It runs in a process of its own, so that its peak memory is its
  /// own.
  static func run(objects: Int, folder: String, memory: Int?) async throws -> Result {
    let before = try StoredBytes(of: folder).allocated
    let idle = ProcessMemory.peakByteCount
    var options = StoreOptions()
    if let memory {
      options.cacheBytes = memory
      options.dirtyMemoryBytes = memory
    }
    let clock = ContinuousClock()
    let (start, written) = (clock.now, ProcessOutput.byteCount ?? 0)
    let container = try await PersistentContainer(
      "Samples",
      plan: plan,
      at: URL(fileURLWithPath: folder + "/samples.cambium"),
      options: options
    )
    let seconds = (clock.now - start) / .seconds(1)
    let peak = ProcessMemory.peakByteCount
    try await container.performBackgroundTask { context in
      let count = try context.count(From<Second.Sample>())
      guard count == objects else { throw PeerError(peer: "stage", message: "\(count) samples are left") }
    }
    try await container.close()
    return Result(
      objects: objects,
      fileBytes: before,
      newFileBytes: try StoredBytes(of: folder).allocated,
      seconds: seconds,
      writtenBytes: (ProcessOutput.byteCount ?? 0) - written,
      peakBytes: peak,
      idlePeakBytes: idle
    )
  }

  static func fill(_ folder: String, _ objects: Int) async throws {
    try await LayoutWorkloads.fillEarlier(folder, objects)
  }
}
