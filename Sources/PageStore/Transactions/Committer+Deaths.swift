/// Memory and pages that the newest version doesn't reach. Called with `state` held, except ``filePages(of:)``,
/// which needs no lock.
///
/// A page of the file that the newest version doesn't reach is dead. It can be overwritten when its death is
/// durable twice (``DeadPages``) and no snapshot reaches it (``Reclamation``).
extension Committer {
  /// Returns the pages of the file of dead memory: pages that died, and the pages to which a checkpoint has
  /// written dead frames and buffers.
  func filePages(of memory: RetiredMemory) -> [PageRun] {
    var runs = memory.pages
    for item in memory.frames { append(pool.storedPlace(ofPage: item.reference), item, count: 1, to: &runs) }
    for item in memory.blobs {
      let count = pool.geometry.overflowPageCount(Int(item.reference.count))
      append(pool.storedPlace(ofOverflow: item.reference), item, count: UInt64(count), to: &runs)
    }
    // Only checkpoints read the catalogue and the space tree.
    for index in runs.indices where runs[index].treeID <= SpaceTree.treeID { runs[index].birth = .max }
    return runs
  }

  private func append(_ place: StoredPlace, _ item: RetiredItem, count: UInt64, to runs: inout [PageRun]) {
    guard !place.isNone, place.number < SpillFile.firstNumber else { return }
    runs.append(
      PageRun(first: place.number, count: count, birth: item.reference.birth, treeID: item.treeID)
    )
  }

  /// Accounts for the memory and the pages of a transaction that has become `version`: those that it has
  /// made, and those that later versions don't reach.
  func account(for transaction: TransactionState, in version: Version) {
    dirtyPages.add(pageCount: transaction.dirty.filePageCount, runs: transaction.dirty.runs)
    let retired = transaction.dirty.finish()
    noteDeaths(of: retired, from: version.generation)
    retire(retired, from: version.generation)
  }

  /// Notes the pages that versions from `generation` on don't reach.
  func noteDeaths(of memory: RetiredMemory, from generation: UInt64) {
    dead.add(filePages(of: memory), from: generation)
    guard dirtyPages.beingWritten != nil else { return }
    // A checkpoint may be writing these; their pages are known when it is done.
    for item in memory.frames where pool.storedPlace(ofPage: item.reference).isNone {
      dirtyPages.noteDeath(ofFrame: item, from: generation)
    }
    for item in memory.blobs where pool.storedPlace(ofOverflow: item.reference).isNone {
      dirtyPages.noteDeath(ofBlob: item, from: generation)
    }
  }

  /// Notes the pages to which a checkpoint has written frames and buffers that have died since it started.
  func noteDeaths(of died: DirtyPages.DiedMeanwhile, writtenTo stored: StoredFrames) {
    for (frame, _) in stored.frames {
      guard let death = died.frames[frame] else { continue }
      dead.add(filePages(of: RetiredMemory(frames: [death.item])), from: death.generation)
    }
    for (blob, _) in stored.blobs {
      guard let death = died.blobs[blob] else { continue }
      dead.add(filePages(of: RetiredMemory(blobs: [death.item])), from: death.generation)
    }
  }

  /// Frees memory and pages that no snapshot reaches any more.
  func reclaimUnread() {
    versions.expire(pool.readers)
    giveBack(reclamation.reclaim(versions.holders))
  }

  /// Frees memory and pages that no snapshot reaches.
  func giveBack(_ free: RetiredMemory) {
    releaseSpilled(free)
    pool.free(free, mayBeNamed: versions.hasEndedLeases)
    guard !free.room.isEmpty, let end = space?.map.end else { return }
    let room = PageRun.pages(of: free.room, before: end)
    // The cache must not have the old contents when the pages get new ones.
    // guard: drop-reused-pages
    pool.cache.drop(room.lazy.flatMap(\.self))
    space?.giveBack(room)
  }
}
