import Foundation
@_spi(Testing) import GraphContext
import PageStore
import Synchronization
import TestSupport

/// Processes killed at any moment while they change the schema of a real file. The page cache survives, so this proves
/// nothing about syncs. It tests the order of writes, the locks, and the state that the next process finds.
struct KilledMigration {
  private static let killCount = 6
  private let seed: UInt64
  private let tally: Tally
  private let trial: SchemaTrial
  private let content: GraphContent
  private let folder: TemporaryFolder
  private let path: String
  private var generator: SeededGenerator
  /// The rows done after each commit of a change that is not interrupted.
  private var reports: [Int] = []
  /// The time from the start of a process to its first commit, and from there to the switch, in microseconds.
  private var startTime = 0
  private var changeTime = 0
  /// The rows that the change in the file has done.
  private var done = 0

  init(seed: UInt64, tally: Tally) throws {
    self.seed = seed
    self.tally = tally
    generator = SeededGenerator(seed: seed)
    trial = try SchemaTrial(using: &generator)
    folder = try TemporaryFolder()
    path = folder.file("killed.cambium")
    let filling = SongFilling(100...300, using: &generator)
    content = filling.content
    try Self.withContainer(of: trial, isNew: false, at: path) { try filling.save(in: $0) }
  }

  /// Changes the schema of the file: the work of the processes that are killed. After each commit writes the number of
  /// rows done to standard output, as eight bytes.
  static func changeSchema(ofFileAt path: String, scenario seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let trial = try SchemaTrial(using: &generator)
    let store = try Store.open(at: path)
    let newest = Atomic(store.lastCommit)
    let container = try trial.container(isNew: true, on: store) { rows in
      // A batch that changes nothing commits nothing, so its rows are done again after a kill.
      let commit = store.lastCommit
      if newest.exchange(commit, ordering: .relaxed) == commit { return }
      withUnsafeBytes(of: UInt64(rows).littleEndian) { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
    try container.close()
  }

  static func run(seed: UInt64, tally: Tally, until isOver: () -> Bool) {
    do {
      var killed = try KilledMigration(seed: seed, tally: tally)
      try killed.run(until: isOver)
    } catch {
      tally.note(.wrong("\(error)"), "changes of schema in killed processes", scenario: seed)
    }
    tally.countScenario()
  }

  private mutating func run(until isOver: () -> Bool) throws {
    try measure()
    var isSwitched = false
    for _ in 0..<Self.killCount where !isSwitched && !isOver() {
      try killOnce()
      isSwitched = try hasNewSchema()
      if !isSwitched, generator.chance(1, in: 4) { try giveUp() }
    }
    // The last process finishes the work that is left.
    let rests = isSwitched ? [[]] : reports.rests(after: done)
    let found = try ChangingProcess(path, seed).reportsAtItsEnd()
    guard rests.contains(found) else {
      throw OracleMismatch("a process that finishes reports the rows \(found) instead of \(rests)")
    }
    try Self.withContainer(of: trial, isNew: true, at: path) { [trial, content] context in
      try GraphContent(of: trial.new, in: context).compare(with: trial.altered(content))
    }
  }

  /// Changes the schema of a copy of the file without an interruption.
  private mutating func measure() throws {
    let copy = folder.file("copy.cambium")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let clock = ContinuousClock()
    let start = clock.now
    let process = try ChangingProcess(copy, seed)
    var last = start
    while let report = process.nextReport() {
      last = clock.now
      if reports.isEmpty { startTime = Int((last - start) / .microseconds(1)) }
      reports.append(report)
    }
    changeTime = Int((last - start) / .microseconds(1)) - startTime
    _ = try process.reportsAtItsEnd()
  }

  private mutating func killOnce() throws {
    let process = try ChangingProcess(path, seed)
    // The kill comes after some of the process's commits, and within the time of about two more; or anywhere before the
    // first one.
    let count = generator.number(in: 0...(reports.rests(after: done).last?.count ?? 0))
    let seen = (0..<count).compactMap { _ in process.nextReport() }
    usleep(UInt32(generator.number(in: 0...(count == 0 ? startTime : 2 * changeTime / (reports.count + 1)))))
    try check(seen + process.kill())
  }

  /// Compares the reports of a killed process with the course of a change that continues after ``done`` rows.
  private mutating func check(_ found: [Int]) throws {
    let rests = reports.rests(after: done)
    guard rests.contains(where: { $0.starts(with: found) }) else {
      throw OracleMismatch("a change behind \(done) rows reports \(found) instead of \(rests)")
    }
    done = found.last ?? done
  }

  /// Looks into the file without a container: it has the old schema or the new one, and at most one commit that was not reported.
  private mutating func hasNewSchema() throws -> Bool {
    let store = try Store.open(at: path)
    let state = try SchemaChangeState(store)
    try store.close()
    if let problem = state.problems.first { throw OracleMismatch("verify, after a kill: \(problem)") }
    guard state.schema != trial.new else {
      count("killed after the switch")
      return true
    }
    guard state.schema == trial.old else { throw OracleMismatch("a kill leaves neither schema") }
    let rows = state.completedRowCount ?? 0
    guard rows == done || reports.rests(after: done).contains(where: { $0.first == rows }) else {
      throw OracleMismatch("a kill leaves \(rows) rows done, and \(done) were reported")
    }
    done = rows
    count(rows == 0 ? "killed before the first commit" : "killed between two commits")
    return false
  }

  private func count(_ kind: String) {
    tally.count("changes of schema in killed processes", kind, .right, scenario: seed)
  }

  /// Opens the file with the old schema, and compares.
  private mutating func giveUp() throws {
    try Self.withContainer(of: trial, isNew: false, at: path) { [trial, content] context in
      try GraphContent(of: trial.old, in: context).compare(with: content)
    }
    done = 0
    count("given up")
  }

  /// Opens the file with one of the two schemas, verifies it, and works in a context.
  private static func withContainer(
    of trial: SchemaTrial,
    isNew: Bool,
    at path: String,
    _ body: @Sendable @escaping (ManagedObjectContext) throws -> Void
  ) throws {
    let store = try Store.open(at: path)
    let container = try trial.container(isNew: isNew, on: store)
    try waiting { try await container.performBackgroundTask(body) }
    if let problem = try container.verify().first { throw OracleMismatch("verify: \(problem)") }
    try container.close()
  }
}

/// A process that changes the schema of a file.
private struct ChangingProcess {
  private let process = Process()
  private let pipe = Pipe()

  private static let reportByteCount = MemoryLayout<UInt64>.size

  init(_ path: String, _ seed: UInt64) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--change-schema-of", path, "--scenario", String(seed)]
    process.standardOutput = pipe
    try process.run()
  }

  /// Waits for a report; nil when the process has ended.
  func nextReport() -> Int? {
    reports((try? pipe.fileHandleForReading.read(upToCount: Self.reportByteCount)) ?? Data()).first
  }

  func kill() -> [Int] {
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return reports(output)
  }

  func reportsAtItsEnd() throws -> [Int] {
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw OracleMismatch("a process that changes a schema fails")
    }
    return reports(output)
  }

  private func reports(_ output: Data) -> [Int] {
    stride(from: 0, to: output.count / Self.reportByteCount * Self.reportByteCount, by: Self.reportByteCount)
      .map { start in
        output.dropFirst(start).prefix(Self.reportByteCount).reversed().reduce(0) { $0 << 8 | Int($1) }
      }
  }
}
