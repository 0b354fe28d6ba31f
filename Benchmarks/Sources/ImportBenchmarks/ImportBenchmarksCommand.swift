import ArgumentParser
import Cambium
import CambiumImport

@Model final class Artist {
  #Unique<Artist>([\.number])
  var number: Int
  var name: String
  @Relationship(inverse: \Track.artist) var tracks: [Track]

  init(_ number: Int, _ name: String) {
    self.number = number
    self.name = name
    tracks = []
  }
}

@Model final class Track {
  #Unique<Track>([\.code])
  var code: String
  var title: String
  var seconds: Int
  @Relationship var artist: Artist?

  init(_ code: String, _ title: String, _ seconds: Int) {
    self.code = code
    self.title = title
    self.seconds = seconds
  }
}

extension Artist: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Artist, Int> { \.number }
}

extension Track: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Track, String> { \.code }
}

/// A line of the file.
struct TrackRecord: Codable, Sendable, ManagedObjectUpdatable {
  typealias Object = Track
  var code: String
  var title: String
  var seconds: Int
  var artist: Int
  var uniqueIDValue: String { code }

  static var updateProperties: PropertiesUpdate? {
    { record, track in
      track.title = record.title
      track.seconds = record.seconds
    }
  }

  static var updateRelationships: RelationshipsUpdate? {
    { record, track, context, cache in
      track.artist = try context.fetchOrInsertObject(Artist.self, with: record.artist, cache: cache)
    }
  }
}

/// Imports JSON lines with unique keys and relationships: time, and peak memory of a process that does nothing else.
@main
struct ImportBenchmarksCommand: AsyncParsableCommand {
  @Option(help: "The lines of the file.") var lines = 1_000_000
  @Option(help: "The lines of a commit; 0 for one commit.") var batch = 10_000
  @Option(help: "The budgets of changed pages and of the cache, in MiB each.") var memory = 16
  @Option(help: "Cancels the import after so many lines were written into objects; 0 for never.")
  var cancelAfter = 0
  @Option(help: "Who imports: cambium or grdb.") var peer = Peer.cambium
  @Option(help: "Keeps the file of lines under this path, for an importer of another language.") var keep:
    String?
  @Flag(help: "Cambium makes both passes for each batch, as the peers do.") var eachBatch = false
  @Option(help: "Where the files go.") var folder = ".build"

  enum Peer: String, ExpressibleByArgument { case cambium, grdb }

  func run() async throws {
    let home = URL(fileURLWithPath: folder).appendingPathComponent("import-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let file = home.appendingPathComponent("tracks.jsonl")
    try write(to: file)
    if let keep {
      try? FileManager.default.removeItem(atPath: keep)
      try FileManager.default.copyItem(atPath: file.path, toPath: keep)
    }
    switch peer {
    case .cambium: try await importWithCambium(file, home)
    case .grdb: try importWithGRDB(file, home)
    }
  }

  private var there: [TrackRecord] {
    // Half of the first thousand are in the store before.
    (0..<500).map { TrackRecord(code: Self.code($0 * 2), title: "before", seconds: 0, artist: 0) }
  }

  private func importWithGRDB(_ file: URL, _ home: URL) throws {
    var job = try GRDBImport(at: home.appendingPathComponent("import.sqlite").path, cacheBytes: memory << 20)
    try job.insert(there)
    let idle = Self.peakMemory()
    let start = ContinuousClock.now
    try job.run(TextLines(of: file), batch: batch == 0 ? .max : batch)
    print("\(ContinuousClock.now - start), peak \(Self.peakMemory()) KiB, before the import \(idle) KiB")
    let counts = try job.counts()
    print("stored: \(counts.tracks) tracks, \(counts.artists) artists")
    try job.close()
  }

  private func importWithCambium(_ file: URL, _ home: URL) async throws {
    var storeOptions = StoreOptions()
    storeOptions.dirtyMemoryBytes = memory << 20
    storeOptions.cacheBytes = memory << 20
    let container = try await PersistentContainer(
      "Import",
      models: Artist.self,
      Track.self,
      at: home.appendingPathComponent("import.cambium"),
      options: storeOptions
    )
    _ = try await container.importObjects(from: there)
    var options = ImportOptions()
    options.commits = batch == 0 ? .once : .eachBatch(of: batch)
    options.relationships = eachBatch ? .afterEachBatch : .afterAllRecords
    options.cache = ImportedObjectCache(countLimit: 10_000)
    let progress = Progress(totalUnitCount: 0)
    options.progress = progress
    var description = TrackRecord.objectImport
    if cancelAfter > 0 {
      let (stop, update) = (Self.code(cancelAfter), description.updateProperties)
      description.updateProperties = { record, track, context in
        try update?(record, track, context)
        if record.code == stop { progress.cancel() }
      }
    }
    let idle = Self.peakMemory()
    let (clock, start) = (ContinuousClock(), ContinuousClock.now)
    do {
      let report = try await container.importRecords(
        .jsonLines(at: file),
        with: description,
        options: options
      )
      print("\(report.insertedCount) inserted, \(report.updatedCount) updated, \(report.commitCount) commits")
    } catch is CancellationError {
      print("cancelled")
    }
    print("\(start.duration(to: clock.now)), peak \(Self.peakMemory()) KiB, before the import \(idle) KiB")
    let counts = try await container.query { context in
      (try context.count(From<Track>()), try context.count(From<Artist>()))
    }
    print("stored: \(counts.0) tracks, \(counts.1) artists")
    try await container.close()
  }

  private static func code(_ number: Int) -> String { "TR-\(10_000_000 + number)" }

  private func write(to file: URL) throws {
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    let handle = try FileHandle(forWritingTo: file)
    var text = ""
    for number in 0..<lines {
      text += #"{"code":"\#(Self.code(number))","title":"Track \#(number) of the file","#
      text += #""seconds":\#(number % 600),"artist":\#(number * 7919 % 5_000)}"# + "\n"
      if text.utf8.count > 1 << 20 {
        try handle.write(contentsOf: Data(text.utf8))
        text = ""
      }
    }
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  /// The process's peak memory in KiB, as Linux counts it.
  private static func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
