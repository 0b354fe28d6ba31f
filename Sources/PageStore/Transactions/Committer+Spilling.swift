/// Spilling: dead pages that snapshots still reach are written to a file when they take too much memory.
///
/// A page that died before a checkpoint wrote it exists only in memory. Snapshots that are taken one after
/// the other during many changes hold more and more of them. Beyond a part of
/// ``StoreOptions/dirtyMemoryBytes`` they are written to the ``SpillFile``; from then on they are part of the
/// cache, like pages that a checkpoint has written.
extension Committer {
  /// Writes the memory that snapshots hold and that no file has, if its amount has grown enough. Called with
  /// `state` held. After a failure that memory stays until more has gathered.
  func spillIfNeeded() {
    guard reclamation.newlyHeldByteCount > limits.heldByteCount else { return }
    reclamation.newlyHeldByteCount = 0
    // Pages that a checkpoint is about to write must not be marked as written.
    let held = reclamation.held(before: dirtyPages.beingWritten?.generation ?? .max)
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

  /// Returns the number of bytes of dead memory that would be spilled if snapshots held it for long.
  static func spillableByteCount(of memory: RetiredMemory, in pool: PagePool) -> Int {
    let frames = memory.frames.reduce(0) {
      $0 + (isSpillable(frame: $1, in: pool) ? pool.geometry.pageSize : 0)
    }
    return memory.blobs.reduce(frames) {
      $0 + (isSpillable(blob: $1, in: pool) ? Int($1.reference.count) : 0)
    }
  }

  /// Returns whether a frame can be spilled: it must be a leaf without overflow that is only in memory.
  /// Branches and other leaves refer to pages that may be alive.
  private static func isSpillable(frame item: RetiredItem, in pool: PagePool) -> Bool {
    pool.arena.canGiveBack && pool.storedPlace(ofPage: item.reference).isNone && pool.isLone(item.number)
  }

  private static func isSpillable(blob item: RetiredItem, in pool: PagePool) -> Bool {
    pool.storedPlace(ofOverflow: item.reference).isNone
  }

  /// Releases the spilled pages of memory that is no longer needed.
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
