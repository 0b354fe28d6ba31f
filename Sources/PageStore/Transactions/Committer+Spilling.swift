/// Dead pages that snapshots still reach, when they are more than memory is meant for.
///
/// A page that died before any checkpoint wrote it exists in memory alone. Snapshots taken one after the other while much is
/// being changed hold ever more of them. Past a part of ``StoreOptions/dirtyMemoryBytes`` they are written to the ``SpillFile``;
/// from then on they are part of the cache, like pages that a checkpoint has written.
extension Committer {
  /// Writes what snapshots hold and no file has, if that has become much. Called with `state` held. After a
  /// failure it stays in memory until more has gathered.
  func spillIfNeeded() {
    guard reclamation.newlyHeldByteCount > limits.heldByteCount else { return }
    reclamation.newlyHeldByteCount = 0
    // What a checkpoint is about to write must not seem to be written already.
    let held = reclamation.held(before: beingWritten?.generation ?? .max)
    var stored = StoredFrames()
    do throws(StoreError) {
      try spill.writePart { (first, sink) throws(StoreError) in
        var writer = PageWriter(pool: pool, mode: .concurrent, placement: .consecutive(from: first))
        let sink: PageWriter.Sink = { (_, image) throws(StoreError) in try sink(image) }
        for item in held.frames where Self.isSpillable(frame: item, in: pool) {
          _ = try writer.writePage(item.reference, treeID: item.treeID, to: sink)
        }
        for item in held.blobs where Self.isSpillable(blob: item, in: pool) {
          _ = try writer.writeOverflow(item.reference, treeID: item.treeID, to: sink)
        }
        stored = writer.stored
      }
    } catch {
      return events.spillFailed(error)
    }
    pool.note(stored)
    events.spilled(byteCount: spill.byteCount)
  }

  /// How many bytes of what died would be spilled, were it held for long.
  static func spillableByteCount(of memory: RetiredMemory, in pool: PagePool) -> Int {
    let frames = memory.frames.reduce(0) {
      $0 + (isSpillable(frame: $1, in: pool) ? pool.geometry.pageSize : 0)
    }
    return memory.blobs.reduce(frames) {
      $0 + (isSpillable(blob: $1, in: pool) ? Int($1.reference.count) : 0)
    }
  }

  /// Leaves without overflow, in memory alone: branches and other leaves lead to what may be alive.
  private static func isSpillable(frame item: RetiredItem, in pool: PagePool) -> Bool {
    pool.arena.canGiveBack && pool.storedPlace(ofPage: item.reference).isNone && pool.isLone(item.number)
  }

  private static func isSpillable(blob item: RetiredItem, in pool: PagePool) -> Bool {
    pool.storedPlace(ofOverflow: item.reference).isNone
  }

  /// Says which spilled pages nobody needs any more.
  func releaseSpilled(_ memory: RetiredMemory) {
    if spill.byteCount == 0 { return }
    for item in memory.frames { release(pool.storedPlace(ofPage: item.reference), pageCount: 1) }
    for item in memory.blobs {
      let pageCount = pool.geometry.overflowPageCount(Int(item.reference.count))
      release(pool.storedPlace(ofOverflow: item.reference), pageCount: UInt64(pageCount))
    }
  }

  private func release(_ place: StoredPlace, pageCount: UInt64) {
    if place.number >= SpillFile.firstNumber { spill.release(place.number, count: pageCount) }
  }
}
