/// A frame or buffer that newer versions don't reach.
struct RetiredItem: Hashable, Sendable {
  /// The reference that led to it.
  let reference: ChildReference
  let treeID: UInt32

  /// The number of the frame or buffer.
  var number: UInt64 { reference.location.number }
}

/// Memory and pages that a version doesn't need, but an older version may need.
struct RetiredMemory: Sendable {
  var frames: [RetiredItem] = []
  /// Buffers of overflow.
  var blobs: [RetiredItem] = []
  /// Pages of the file that may be cached.
  var pages: [PageRun] = []
  /// Pages of the file whose death is durable twice (``DeadPages``), so that they can be overwritten.
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
/// An item is reachable in the versions from the commit that made it up to the one that replaced it. A
/// snapshot keeps only the items that its own version reaches; items that were made after it and have died
/// since are freed at once, however long the snapshot lives.
///
/// An item that can't be freed is assigned to the newest held version that reaches it, and is examined again
/// when that version is released. Adding and releasing cost O(1) an item for each assignment. Cached pages of
/// the file are an exception: those that a snapshot reaches are left to the cache, which evicts them like
/// others.
struct Reclamation {
  /// The memory that died with one version.
  private struct Deaths {
    /// The first generation that doesn't reach the memory.
    var generation: UInt64
    var memory: RetiredMemory
  }

  /// Deaths since the last durable version, which a failed sync could undo. Oldest first.
  private var recent: [Deaths] = []
  /// Bytes of frames and buffers in ``recent``: memory that a sync frees.
  private(set) var unsyncedByteCount = 0
  /// The deaths that are kept, by the generation of the version that holds them.
  private var held: [UInt64: [Deaths]] = [:]
  /// Pages of the file that only snapshots reach.
  private(set) var heldPageCount: UInt64 = 0
  /// Bytes that exist only in memory and that versions have begun to hold since this was last set to zero.
  /// Some of them may no longer be held.
  var newlyHeldByteCount = 0
  private let pageSize: Int
  /// Counts the bytes that exist only in memory.
  private let bytesOnlyInMemory: (RetiredMemory) -> Int

  init(pageSize: Int, bytesOnlyInMemory: @escaping (RetiredMemory) -> Int) {
    self.pageSize = pageSize
    self.bytesOnlyInMemory = bytesOnlyInMemory
  }

  /// Adds memory that versions from `generation` on don't reach. Generations ascend.
  mutating func add(_ memory: RetiredMemory, from generation: UInt64) {
    if memory.isEmpty { return }
    recent.append(Deaths(generation: generation, memory: memory))
    unsyncedByteCount += byteCount(of: memory)
  }

  /// Removes and returns the memory that no reader can reach.
  mutating func reclaim(_ holders: VersionTable.Holders) -> RetiredMemory {
    var free = RetiredMemory()
    var queue: [Deaths] = []
    for generation in held.keys where !holders.holds(generation) {
      heldPageCount -= heldPageCount(by: generation)
      queue += held.removeValue(forKey: generation) ?? []
    }
    let durableCount = recent.firstIndex { $0.generation > holders.oldestUnheld } ?? recent.count
    for deaths in recent[..<durableCount] { unsyncedByteCount -= byteCount(of: deaths.memory) }
    queue += recent[..<durableCount]
    recent.removeFirst(durableCount)
    for deaths in queue { examine(deaths, holders, &free) }
    return free
  }

  /// Takes pages of the file whose death is durable twice. Keeps those that snapshots reach, and returns the
  /// others, which can be overwritten.
  mutating func reclaimPages(_ deaths: [DeadPages.Deaths], _ holders: VersionTable.Holders) -> RetiredMemory {
    var free = RetiredMemory()
    for death in deaths {
      let memory = RetiredMemory(room: death.runs)
      examine(Deaths(generation: death.generation, memory: memory), holders, &free)
    }
    return free
  }

  /// Adds the memory that no reader can reach to `free`, and assigns the rest to the version that holds it.
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

  /// Returns the number of pages of the file that are assigned to the version of a generation.
  func heldPageCount(by generation: UInt64) -> UInt64 {
    (held[generation] ?? []).reduce(0) { $0 + $1.memory.roomPageCount }
  }

  /// Returns the number of bytes that exist only in memory and are assigned to the version of a generation.
  func heldByteCount(by generation: UInt64) -> Int {
    (held[generation] ?? []).reduce(0) { $0 + bytesOnlyInMemory($1.memory) }
  }

  /// Returns the memory that versions older than `generation` hold.
  func held(before generation: UInt64) -> RetiredMemory {
    var memory = RetiredMemory()
    for (holder, deaths) in held where holder < generation {
      for deaths in deaths { memory += deaths.memory }
    }
    return memory
  }
}
