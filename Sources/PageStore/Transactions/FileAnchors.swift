/// The two anchors of the file, which are rewritten in turn. Guarded by ``Committer/checkpointing``.
struct FileAnchors {
  /// The anchors that are legible, newest first.
  private(set) var legible: LegibleAnchors
  /// The slot that is rewritten next: not that of the newest anchor.
  private(set) var nextSlot: Int
  /// False while the newest anchor may exist only in the system's page cache, as it may after another process
  /// died.
  private(set) var isNewestDurable = false

  init(_ legible: LegibleAnchors, nextSlot: Int) {
    self.legible = legible
    self.nextSlot = nextSlot
  }

  var newest: Anchor? { legible.newest }
  var newestSlot: Int { 1 - nextSlot }
  /// True if both slots have a legible anchor.
  var areComplete: Bool { legible.count == FileLayout.anchorOffsets.count }

  /// Notes that the file was synced.
  mutating func noteSync() { isNewestDurable = true }

  /// Notes that an anchor was written, without a sync, in the next slot: it is the newest one.
  mutating func noteWritten(_ anchor: Anchor) {
    legible.add(anchor)
    nextSlot = 1 - nextSlot
    isNewestDurable = false
  }

  /// Notes that the newest anchor was overwritten, without a sync, by one with the closing mark.
  mutating func noteClosingMark() {
    legible.close()
    isNewestDurable = false
  }
}
