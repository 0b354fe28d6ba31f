@_spi(Testing) import PageStore
import Synchronization

/// A closed store whose file rots. Whatever changes in the file, the store must refuse it with a typed error, or show
/// exactly its old contents.
@_spi(Testing)
public struct RotTrial: Sendable {
  public let file: RottingFile
  private let model: StoreModel
  private let options: StoreOptions
  /// Whether the last commit may be missing: nothing in the file vouches for it (a store that was not closed).
  private let mayLoseTail: Bool
  /// The store's actions besides simple commits.
  public private(set) var history: Set<FaultTrial.Step> = []

  /// Makes a store with a history: trees of several kinds, large values, checkpoints, recoveries.
  public init(seed: UInt64, options: StoreOptions, stepCount: Int, isClosed: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let subject = StoreUnderTest(options: options, seed: seed)
    let places = WritePlaces()
    places.watch(subject.disk)
    try subject.open()
    var earlier: [SparseBytes] = []
    // A file of many megabytes takes its time: one in sixteen.
    if generator.chance(1, in: 16) {
      _ = try subject.commit(.bulk)
      history.insert(.bulk)
    }
    for _ in 0..<stepCount {
      if let special = try Self.step(on: subject, places, using: &generator) { history.insert(special) }
      earlier.append(subject.disk.content)
    }
    if isClosed {
      try subject.close()
    } else {
      // Half of the time the store was closed before, and its last commits are the first ones since. These commits are
      // hit, and the closing mark comes back.
      if generator.chance(1, in: 2) {
        try subject.close()
        earlier = [subject.disk.content]
        try subject.open()
        places.forget()
      }
      // The second commit vouches for the first and for all before it. A transaction that changes nothing is no commit.
      let last = subject.ledger.model.newest + 2
      while subject.ledger.model.newest < last { _ = try subject.commit(.small, durability: .full) }
    }
    let image = subject.disk.crashPoint.image(.allLost, seed: 0)
    subject.disk.cut()
    file = RottingFile(image: image, earlier: earlier, writes: places.ranges, pageSize: options.pageSize)
    model = subject.ledger.model
    self.options = options
    mayLoseTail = !isClosed
  }

  /// Returns the action if it is anything special.
  private static func step(
    on subject: StoreUnderTest,
    _ places: WritePlaces,
    using generator: inout SeededGenerator
  ) throws -> FaultTrial.Step? {
    switch generator.number(in: 0...11) {
    case 0: try subject.checkpoint()
    case 1:
      subject.die()
      places.watch(subject.disk)
      try subject.open()
    case 2:
      try subject.close()
      try subject.open()
    case 3: _ = try subject.commit(.largeValue)
    case 4:
      _ = try subject.groupCommit([.full, .relaxed, .full])
      return .groupCommit
    case 5:
      try subject.checkpointConcurrently { _ = try subject.commit(.small, durability: .full) }
      return .concurrentCheckpoint
    default: _ = try subject.commit(generator.pick([.small, .small, .range, .trees]))
    }
    return nil
  }

  /// A file that was made elsewhere; the store must not show a commit before the one that `model` requires.
  init(_ image: SparseBytes, model: StoreModel, options: StoreOptions) {
    file = RottingFile(image: image, earlier: [], writes: [], pageSize: options.pageSize)
    self.model = model
    self.options = options
    mayLoseTail = false
  }

  /// Opens the file after `rot`. Returns true if the damage was refused, false if it made no difference. Throws an
  /// error if the store is wrong.
  public func run(_ rot: Rot, seed: UInt64) throws -> Bool {
    var generator = SeededGenerator(seed: seed)
    let image = file.rotten(rot, using: &generator)
    // Two faults at once may hit a commit and all records that vouch for it.
    let isWide = mayLoseTail ? rot.isWide : rot.hitsTwoPlaces && hasOtherAnchors(image)
    return try open(image, isWide: isWide, seed: seed)
  }

  /// Whether the blocks in front of the extents are not those of the undamaged file.
  private func hasOtherAnchors(_ image: SparseBytes) -> Bool {
    let fixedBlocks: Range<UInt64> = 0..<12 << 10
    return image.bytes(in: fixedBlocks) != file.image.bytes(in: fixedBlocks)
  }

  /// Opens `image`, which is the file after some damage. `isWide` says that the damage may have hit more than a record
  /// of the log and the records that vouch for it.
  public func open(_ image: SparseBytes, isWide: Bool, seed: UInt64) throws -> Bool {
    var model = model
    if isWide { model.requireNothing() } else if mayLoseTail { model.requireAllButNewest() }
    var options = options
    options.createsIfMissing = false
    options.isReadOnly = mixed(seed, 3) % 4 == 0
    let subject = StoreUnderTest(disk: SimulatedDisk(image), model: model, options: options, seed: seed)
    do {
      try subject.open()
      try subject.compare(seed: seed)
      return false
    } catch is StoreError {
      return true
    }
  }
}

/// The ranges that a store has written.
private final class WritePlaces: Sendable {
  private let state = Mutex<[Range<UInt64>]>([])

  var ranges: [Range<UInt64>] { state.withLock { $0 } }

  func forget() { state.withLock { $0 = [] } }

  func watch(_ disk: SimulatedDisk) {
    disk.observe { [self] call, point in
      guard call == .write || call == .writeDurably, let range = point.lastUnsyncedWrite else { return }
      state.withLock { $0.append(range) }
    }
  }
}
