/// A frame or buffer that newer versions don't reach.
struct RetiredItem: Hashable, Sendable {
  /// What led to it.
  let reference: ChildReference
  let treeID: UInt32

  /// The number of the frame or buffer.
  var number: UInt64 { reference.location.number }
}

/// What a version no longer needs but an older one may.
struct RetiredMemory: Sendable {
  var frames: [RetiredItem] = []
  /// Buffers of overflow.
  var blobs: [RetiredItem] = []
  /// Pages of the file that may be in the cache.
  var pages: [PageRun] = []
  /// Pages of the file whose death is durable (``DeadPages``): their room can be used again.
  var room: [PageRun] = []

  /// Pages of ``room``.
  var roomPageCount: UInt64 { room.reduce(0) { $0 + $1.count } }
  var isEmpty: Bool { frames.isEmpty && blobs.isEmpty && pages.isEmpty && room.isEmpty }

  static func += (left: inout RetiredMemory, right: RetiredMemory) {
    left.frames += right.frames
    left.blobs += right.blobs
    left.pages += right.pages
    left.room += right.room
  }
}

/// Memory that died with some version, until no reader can reach it any more. Guarded by ``Committer/state``.
///
/// An item was reachable in the versions from the commit that made it up to the one that replaced it. A snapshot keeps only
/// what its own version reaches; what was made after it, and has died since, goes at once, however long the snapshot lives.
///
/// Each item that can't go is on the account of the newest version that is held and reaches it, and is looked at again when
/// that one is let go: adding and releasing cost O(1) an item for each time that it changes its account. Not so pages of the
/// file: those that a snapshot reaches are left to the cache, which throws them out in their turn.
struct Reclamation {
  /// What died with one version.
  private struct Deaths {
    /// The generation from which on nothing in here is reached.
    var generation: UInt64
    var memory: RetiredMemory
  }

  /// Deaths that versions may still survive which nobody holds: the last ones before they are durable. Oldest first.
  private var recent: [Deaths] = []
  /// Bytes of frames and buffers in ``recent``: memory that a sync gives back.
  private(set) var unsettledByteCount = 0
  /// By the generation of the version that holds them.
  private var held: [UInt64: [Deaths]] = [:]
  /// Pages of the file that only snapshots reach.
  private(set) var heldPageCount: UInt64 = 0
  /// Bytes in memory alone that came to be held since it was last set to zero, whether or not they still are.
  var newlyHeldByteCount = 0
  private let pageSize: Int
  /// How many bytes exist in memory alone.
  private let bytesOnlyInMemory: (RetiredMemory) -> Int

  init(pageSize: Int, bytesOnlyInMemory: @escaping (RetiredMemory) -> Int) {
    self.pageSize = pageSize
    self.bytesOnlyInMemory = bytesOnlyInMemory
  }

  /// Adds what versions from `generation` on don't reach. Generations ascend.
  mutating func add(_ memory: RetiredMemory, from generation: UInt64) {
    if memory.isEmpty { return }
    recent.append(Deaths(generation: generation, memory: memory))
    unsettledByteCount += byteCount(of: memory)
  }

  /// Takes out what nobody can reach.
  mutating func reclaim(_ holders: VersionTable.Holders) -> RetiredMemory {
    var free = RetiredMemory()
    var queue: [Deaths] = []
    for generation in held.keys where !holders.holds(generation) {
      heldPageCount -= heldPageCount(by: generation)
      queue += held.removeValue(forKey: generation) ?? []
    }
    let settledCount = recent.firstIndex { $0.generation > holders.oldestUnheld } ?? recent.count
    for deaths in recent[..<settledCount] { unsettledByteCount -= byteCount(of: deaths.memory) }
    queue += recent[..<settledCount]
    recent.removeFirst(settledCount)
    for deaths in queue { examine(deaths, holders, &free) }
    return free
  }

  /// Looks at pages of the file whose death is durable. Returns those that nobody can reach.
  mutating func settle(_ deaths: [DeadPages.Deaths], _ holders: VersionTable.Holders) -> RetiredMemory {
    var free = RetiredMemory()
    for death in deaths {
      let memory = RetiredMemory(room: death.runs)
      examine(Deaths(generation: death.generation, memory: memory), holders, &free)
    }
    return free
  }

  private mutating func examine(
    _ deaths: Deaths,
    _ holders: VersionTable.Holders,
    _ free: inout RetiredMemory
  ) {
    guard let holder = holders.newest(before: deaths.generation) else {
      free += deaths.memory
      return
    }
    var kept = RetiredMemory()
    for item in deaths.memory.frames {
      if item.reference.birth > holder.commit { free.frames.append(item) } else { kept.frames.append(item) }
    }
    for item in deaths.memory.blobs {
      if item.reference.birth > holder.commit { free.blobs.append(item) } else { kept.blobs.append(item) }
    }
    free.pages += deaths.memory.pages.filter { $0.birth > holder.commit }
    for run in deaths.memory.room {
      if run.birth > holder.commit { free.room.append(run) } else { kept.room.append(run) }
    }
    guard !kept.isEmpty else { return }
    newlyHeldByteCount += bytesOnlyInMemory(kept)
    held[holder.generation, default: []].append(Deaths(generation: deaths.generation, memory: kept))
    heldPageCount += kept.roomPageCount
  }

  private func byteCount(of memory: RetiredMemory) -> Int {
    memory.blobs.reduce(memory.frames.count * pageSize) { $0 + Int($1.reference.count) }
  }

  /// Pages of the file that only snapshots reach.
  var heldRoom: [PageRun] { held.values.flatMap { $0.flatMap(\.memory.room) } }

  /// Those on the account of the version of a generation.
  func heldPageCount(by generation: UInt64) -> UInt64 {
    (held[generation] ?? []).reduce(0) { $0 + $1.memory.roomPageCount }
  }

  /// Bytes that exist in memory alone on the account of the version of a generation.
  func heldByteCount(by generation: UInt64) -> Int {
    (held[generation] ?? []).reduce(0) { $0 + bytesOnlyInMemory($1.memory) }
  }

  /// What versions older than `generation` hold.
  func held(before generation: UInt64) -> RetiredMemory {
    var memory = RetiredMemory()
    for (holder, deaths) in held where holder < generation {
      for deaths in deaths { memory += deaths.memory }
    }
    return memory
  }
}
