import Foundation
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The tables of Docs/Durability.md that say which state a crash leaves. The test goes through them row by row: it
/// takes each step on a simulated disk, lets the power fail there in every way, and compares the state found with the
/// row.
struct DurabilityTableTests {
  /// The states that a row's crash may leave.
  private struct Expectation {
    /// Images of the disk after crashes at the step.
    var images: [SparseBytes]
    /// The last commit that is found.
    var commits: Set<UInt64>
    /// Commits of which the last checkpoint may be, as recovery finds it; nil for any.
    var checkpoints: Set<UInt64>?
    /// The page sizes of the stores found, each of which has to occur; nil for any.
    var pageSizes: Set<Int>?
    /// Whether opening may refuse the file as no store.
    var mayBeRefused = false
    /// Each of ``commits`` has to be found in some image.
    var findsEach = false
  }

  private typealias Moment = (call: DiskCall, point: CrashPoint)

  @Test func everyRowIsWhatIsFound() throws {
    let played: [String: [String: Expectation]] = [
      "a commit": try commitSteps(),
      "a checkpoint": try checkpointSteps(),
      "going on in another log extent": try extentSteps(),
      "compaction, and of cutting the file": try compactionSteps(),
      "closing, and of the first commit afterwards": try closingSteps(),
      "creation": try creationSteps(),
      "recovery": try recoverySteps(),
      "a copy, or of a replacement": try replacementSteps(),
    ]
    let tables = try Self.tables()
    #expect(Set(tables.keys) == Set(played.keys))
    for (table, rows) in tables {
      #expect(Set(rows) == Set(played[table, default: [:]].keys), "steps of \(table)")
      for row in rows {
        guard let expectation = played[table]?[row] else { continue }
        try check(expectation, "step of \(table): \(row)")
      }
    }
  }

  /// Returns the first cells of the tables, by the subject of the steps.
  private static func tables() throws -> [String: [String]] {
    let text = try Document("Docs/Durability.md").text
    var tables: [String: [String]] = [:]
    var table: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2 else {
        table = nil
        continue
      }
      if cells[0].hasPrefix("step of "), cells[1] == "a crash after it leaves" {
        table = String(cells[0].dropFirst("step of ".count))
      } else if let table, !cells[0].hasPrefix("-") {
        tables[table, default: []].append(cells[0])
      }
    }
    return tables
  }

  private func check(_ expectation: Expectation, _ row: String) throws {
    var found: Set<UInt64> = []
    var pageSizes: Set<Int> = []
    #expect(!expectation.images.isEmpty, "\(row)")
    for image in expectation.images {
      do {
        if let checkpoints = expectation.checkpoints {
          let checkpoint = try readOnly(image).statistics.checkpointCommit
          #expect(checkpoints.contains(checkpoint), "\(row)")
        }
        let store = try open(SimulatedDisk(image))
        let commit = store.lastCommit
        #expect(expectation.commits.contains(commit), "\(row)")
        found.insert(commit)
        pageSizes.insert(try store.statistics.pageSize)
        for number in stride(from: 1, through: commit, by: 1) {
          #expect(try store.value("key\(number)") == Self.value, "\(row)")
        }
        #expect(try store.verify().isEmpty, "\(row)")
      } catch let error as StoreError where expectation.mayBeRefused {
        #expect(error.code == .notAStore, "\(row)")
      }
    }
    if let expected = expectation.pageSizes { #expect(pageSizes == expected, "\(row)") }
    if expectation.findsEach { #expect(found == expectation.commits, "\(row)") }
  }

  // MARK: The steps

  private static let value = String(repeating: "x", count: 1_700)

  private func commitSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try commit(on: store, through: 3)
    let before = disk.crashPoint
    let moments = try Self.moments(of: disk) { try commit(on: store, through: 4) }
    let inFlight = try #require(moments.first { $0.call == .writeDurably }).point
    return [
      "record in memory": Expectation(images: Self.images([before]), commits: [3]),
      "record partly written": Expectation(
        images: Self.images([inFlight], [.oneSector, .oldOrNew, .garbage, .zeroed]),
        commits: [3, 4]
      ),
      "record written, not synced": Expectation(
        images: Self.images([inFlight], [.allLost, .allKept]),
        commits: [3, 4],
        findsEach: true
      ),
      "synced": Expectation(images: Self.images(moments.suffix(1).map(\.point)), commits: [4]),
    ]
  }

  private func compactionSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    // Much at the front of the file becomes dead, and live pages stay behind it.
    let junk = [UInt8](repeating: 5, count: 1_000)
    try store.write { transaction in
      for number in 0..<600 { try transaction.tree("junk").put(bytes("\(number)"), junk) }
      try transaction.tree("t").put(bytes("key1"), bytes(Self.value))
    }
    try store.checkpoint()
    try commit(on: store, through: 8)
    try store.write { transaction in
      try transaction.dropTree("junk")
      try transaction.tree("t").put(bytes("key9"), bytes(Self.value))
    }
    let before = disk.crashPoint
    let size = disk.byteCount()
    let moments = try Self.moments(of: disk) { _ = try store.compact() }
    #expect(disk.byteCount() < size / 4)
    func step(_ points: some Sequence<CrashPoint>) -> Expectation {
      Expectation(images: Self.images(Array(points)), commits: [9])
    }
    let records = moments.filter { $0.call == .writeDurably }.map(\.point)
    let cuts = moments.filter { $0.call == .truncate }.map(\.point)
    return [
      "pages copied in memory": step([before]),
      "checkpoint written, as above": step(moments.prefix { $0.call != .truncate }.map(\.point)),
      "log begun in its first extent": step(records),
      "record that states a lower end, synced": step(records.suffix(4)),
      "file cut": step(cuts + moments.suffix(1).map(\.point)),
    ]
  }

  private func checkpointSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try commit(on: store, through: 5)
    try store.checkpoint()
    try commit(on: store, through: 9)
    let moments = try Self.moments(of: disk) { try store.checkpointConcurrently() }
    // The pages, their sync, the record with its own sync, the anchor.
    let sync = try #require(moments.firstIndex { $0.call == .synchronize && !$0.point.hasUnsynced })
    let record = try #require(moments.firstIndex { $0.call == .writeDurably })
    let anchor = try #require(moments.last?.point)
    func step(_ points: [CrashPoint], _ damage: [Damage]? = nil, _ checkpoints: Set<UInt64>) -> Expectation {
      Expectation(images: Self.images(points, damage), commits: [9], checkpoints: checkpoints)
    }
    return [
      "some pages written": step(moments[..<sync].map(\.point), nil, [5]),
      "pages synced": step([moments[sync].point], nil, [5]),
      "checkpoint record written, not synced": step([moments[record].point], nil, [5, 9]),
      "record synced": step([moments[record + 1].point], nil, [9]),
      "anchor torn": step([anchor], [.oldOrNew, .garbage, .zeroed, .oneSector], [9]),
      "anchor written": step([anchor], [.allKept], [9]),
    ]
  }

  private func closingSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try commit(on: store, through: 4)
    let closing = try Self.moments(of: disk) { try store.close() }
    let synced = try #require(closing.lastIndex { $0.call == .synchronize && !$0.point.hasUnsynced })
    let reopened = try open(disk)
    let moments = try Self.moments(of: disk) { try commit(on: reopened, through: 5) }
    let writes = moments.filter { $0.call == .writeDurably }.map(\.point)
    // The anchor without its mark, then the record; each in flight and done.
    #expect(writes.count == 4)
    func step(_ points: some Sequence<CrashPoint>, _ commits: Set<UInt64>) -> Expectation {
      Expectation(images: Self.images(points), commits: commits)
    }
    return [
      "a checkpoint, as above, whose anchor has the closing mark; or the mark added to an anchor that is there already":
        step(closing[..<synced].map(\.point), [4]),
      "file synced": step(closing[synced...].map(\.point), [4]),
      "mark being taken back": step(writes.prefix(1), [4]),
      "mark taken back durably, no record written": step(writes.dropFirst().prefix(1), [4]),
      "first record written": step(writes.dropFirst(2), [4, 5]),
    ]
  }

  private func extentSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    var number: UInt64 = 0
    var moments: [Moment] = []
    // A commit that begins another log extent does more than write its record.
    while moments.count(where: { $0.call == .synchronize }) < 4 {
      number += 1
      moments = try Self.moments(of: disk) { try commit(on: store, through: number) }
    }
    let syncs = moments.indices.filter { moments[$0].call == .synchronize && !moments[$0].point.hasUnsynced }
    let (created, linked) = (try #require(syncs.first), try #require(syncs.last))
    return [
      "zeros and headers written": Expectation(
        images: Self.images(moments[...created].map(\.point)),
        commits: [number - 1]
      ),
      "link written, not synced": Expectation(
        images: Self.images(moments[(created + 1)..<linked].map(\.point)),
        commits: [number - 1]
      ),
      "link and extent synced": Expectation(
        images: Self.images([moments[linked].point]),
        commits: [number - 1]
      ),
    ]
  }

  private func creationSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let moments = try Self.moments(of: disk) { _ = try open(disk) }
    let syncs = moments.indices.filter { moments[$0].call == .synchronize && !moments[$0].point.hasUnsynced }
    #expect(syncs.count == 3)
    let (extent, rest, header) = (syncs[0], syncs[1], syncs[2])
    func step(_ moments: ArraySlice<Moment>, mayBeRefused: Bool = false) -> Expectation {
      Expectation(images: Self.images(moments.map(\.point)), commits: [0], mayBeRefused: mayBeRefused)
    }
    return [
      "log extent partly written": step(moments[..<extent], mayBeRefused: true),
      "log extent synced; checkpoint and anchor perhaps written": step(moments[extent..<rest]),
      "all but the header synced": step(moments[rest...rest]),
      "header torn": step(moments[(rest + 1)..<header]),
      "header synced": step(moments[header...header]),
    ]
  }

  private func recoverySteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try commit(on: store, through: 6)
    // The process dies; the bytes that it wrote stay, synced or not.
    let later = disk.afterProcessDeath()
    let untouched = later.crashPoint
    let moments = try Self.moments(of: later) { _ = try open(later) }
    let record = try #require(moments.firstIndex { $0.call == .writeDurably })
    let begun = try #require(moments.firstIndex { $0.call == .synchronize && !$0.point.hasUnsynced })
    func step(_ points: [CrashPoint], _ checkpoints: Set<UInt64>) -> Expectation {
      Expectation(images: Self.images(points), commits: [6], checkpoints: checkpoints)
    }
    return [
      "replay in memory": step([untouched], [0]),
      "a fresh log extent begun": step(moments[...begun].map(\.point), [0]),
      "the checkpoint that makes all accepted records durable again": step(
        moments[(record + 1)..<(moments.count - 1)].map(\.point),
        [6]
      ),
      "its anchor, synced: only now commits begin": step(moments.suffix(1).map(\.point), [6]),
    ]
  }

  /// The old store has pages of 4 KiB, the new one of 8.
  private func replacementSteps() throws -> [String: Expectation] {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try commit(on: store, through: 6)
    let trace = Mutex<[SimulatedPlace.Moment]>([])
    let place = SimulatedPlace(replacing: disk) { moment in trace.withLock { $0.append(moment) } }
    #expect(try store.copy(to: place, pageSize: 8_192, keepsUUID: true))
    let moments = trace.withLock { $0 }
    func step(_ moments: some Sequence<SimulatedPlace.Moment>, _ pageSizes: Set<Int>) -> Expectation {
      Expectation(images: Self.images(moments.flatMap(\.found)), commits: [6], pageSizes: pageSizes)
    }
    let synced = try #require(moments.firstIndex { $0.isFileSynchronized })
    let renamed = moments.filter { $0.name == .copyUnsynced }
    let durable = moments.filter { $0.name == .copy }
    return [
      "copy made, partly written": step([moments[0], moments[synced / 2], moments[synced - 1]], [4_096]),
      "copy synced, with owner and permissions": step([moments[synced]], [4_096]),
      "renamed": step(renamed, [4_096, 8_192]),
      "folder synced": step(durable.dropLast(), [8_192]),
      "copy closed, locks given back": step(durable.suffix(1), [8_192]),
    ]
  }

  // MARK: Means

  private func open(_ disk: SimulatedDisk) throws -> Store {
    let fixture = StoreFixture(disk)
    return try fixture.open()
  }

  private func readOnly(_ image: SparseBytes) throws -> Store {
    var fixture = StoreFixture(SimulatedDisk(image))
    fixture.options.isReadOnly = true
    return try fixture.open()
  }

  /// Commits until the store has the commit with this number, each commit with a key of its own.
  private func commit(on store: Store, through number: UInt64) throws {
    while store.lastCommit < number { try store.put("key\(store.lastCommit + 1)", Self.value) }
  }

  /// Returns the disk before and after each change that `body` makes.
  private static func moments(of disk: SimulatedDisk, _ body: () throws -> Void) rethrows -> [Moment] {
    final class Trace: Sendable {
      let moments = Mutex<[Moment]>([])
    }
    let trace = Trace()
    disk.observe { call, point in trace.moments.withLock { $0.append((call, point)) } }
    defer { disk.observe(nil) }
    try body()
    return trace.moments.withLock { $0 }
  }

  /// Returns the images that a power failure at these moments may leave, with every kind of damage unless `damage`
  /// names some.
  private static func images(_ points: some Sequence<CrashPoint>, _ damage: [Damage]? = nil) -> [SparseBytes]
  {
    points.flatMap { point in
      point.possibleDamage.filter { damage?.contains($0) ?? true }
        .flatMap { damage in (0..<3).map { point.image(damage, seed: $0) } }
    }
  }
}
