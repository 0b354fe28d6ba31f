import Synchronization
@_spi(Testing) import TestSupport

@_spi(Testing) @testable import PageStore

/// A store on a simulated disk, with a clock and a schedule that the test drives by hand.
struct StoreFixture {
  let disk: SimulatedDisk
  let clock = Clock()
  let schedule = Schedule()
  var options = StoreOptions()

  final class Clock: Sendable {
    let milliseconds = Atomic<Int64>(1_000)
    let draws = Atomic<UInt64>(0)
  }

  /// Work that the store has deferred.
  final class Schedule: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])

    func add(_ item: @escaping @Sendable () -> Void) { work.withLock { $0.append(item) } }

    /// Runs the work that was deferred until now.
    func run() {
      let items = work.withLock { items in
        defer { items = [] }
        return items
      }
      for item in items { item() }
    }
  }

  init(_ disk: SimulatedDisk = SimulatedDisk(), pageSize: Int = 4_096) {
    self.disk = disk
    options.pageSize = pageSize
    options.initialLogByteCount = 16 << 10
  }

  var environment: StoreEnvironment {
    let clock = clock
    let schedule = schedule
    var environment = StoreEnvironment(
      now: { clock.milliseconds.load(ordering: .relaxed) },
      random: { mixed(99, clock.draws.wrappingAdd(1, ordering: .relaxed).newValue) },
      schedule: { _, work in schedule.add(work) }
    )
    // A few pages, so that writes fail in the middle of a checkpoint.
    environment.pageBatchByteCount = 16 << 10
    return environment
  }

  func open() throws -> Store { try open(disk) }

  /// Opens the store in another environment than ``environment``.
  func open(in environment: StoreEnvironment) throws -> Store {
    try Store.open(file: disk, path: "test", options: options, environment: environment)
  }

  /// Opens the store so that a checkpoint writes its pages in batches of a few, on another thread if
  /// `isConcurrent`.
  func openWithSmallBatches(isConcurrent: Bool = false) throws -> Store {
    var environment = environment
    environment.pageBatchByteCount = 8 << 10
    if isConcurrent { environment.runConcurrently = { DetachedThread.run($0) } }
    return try open(in: environment)
  }

  /// Opens the store in another file than ``disk``, such as its state at another moment.
  func open(_ file: any RandomAccessFile) throws -> Store {
    try Store.open(file: file, path: "test", options: options, environment: environment)
  }

  /// The same disk as a later process finds it. If `powerFailed`, a power failure has lost all bytes that were not
  /// synced.
  func reopened(powerFailed: Bool = false, damage: Damage = .allLost, seed: UInt64 = 0) throws -> Store {
    let later =
      powerFailed ? SimulatedDisk(disk.crashPoint.image(damage, seed: seed)) : disk.afterProcessDeath()
    return try open(later)
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension Store {
  func put(_ key: String, _ value: String, durability: Durability? = nil) throws {
    try write(durability: durability) { try $0.tree("t").put(bytes(key), bytes(value)) }
  }

  func value(_ key: String) throws -> String? {
    try snapshot().treeIfPresent("t")?.value(for: bytes(key)).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The code of the error that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}
