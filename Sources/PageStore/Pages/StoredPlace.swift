/// Where a checkpoint has written a frame or buffer that the trees in memory still consist of.
///
/// A checkpoint that runs beside commits leaves the frames where they are: the versions since refer to them too. It only
/// notes which page of the file has the same content; a later checkpoint that meets the frame below a changed page refers to
/// that page and need not write it again. And such a frame need not stay in memory.
struct StoredPlace: Hashable {
  /// The page's number; 0 if the frame was not written yet.
  var number: UInt64
  var checksum: UInt64

  static let none = StoredPlace(number: 0, checksum: 0)

  var isNone: Bool { number == 0 }
}

extension ChildReference {
  /// Where the file has what the reference leads to.
  var place: StoredPlace { StoredPlace(number: location.number, checksum: checksum) }

  /// The same reference to what was written at `place`.
  func moved(to place: StoredPlace) -> ChildReference {
    var reference = self
    reference.location = .page(place.number)
    reference.checksum = place.checksum
    return reference
  }
}

/// What a checkpoint beside commits has written, to be noted once it is durable.
struct StoredFrames {
  var frames: [(frame: UInt64, place: StoredPlace)] = []
  var blobs: [(blob: UInt64, place: StoredPlace)] = []
}

extension PagePool {
  /// Where the page of a reference was written, if it is a frame that was.
  func storedPlace(ofPage reference: ChildReference) -> StoredPlace {
    places[reference.location.number]
  }

  /// Where the overflow of a reference was written, if it is a buffer that was.
  func storedPlace(ofOverflow reference: ChildReference) -> StoredPlace {
    blobs.places[reference.location.number]
  }

  /// The root of the same tree in the file, if all of it was written.
  func storedRoot(_ root: TreeRoot) -> TreeRoot {
    guard root.height > 0, root.reference.location.isFrame else { return root }
    let place = storedPlace(ofPage: root.reference)
    guard !place.isNone else { return root }
    var stored = root
    stored.reference = root.reference.moved(to: place)
    return stored
  }

  /// Notes where frames and buffers were written, once that is synced or spilled. Called with
  /// ``Committer/state`` held, while a pin or a snapshot holds the versions that refer to them.
  ///
  /// From then on leaves are part of the cache, and buffers are given up: overflow is read as pages. Branches stay, and so do leaves
  /// with overflow: their images lead to pages, and they alone lead to what is in memory below them.
  func note(_ stored: StoredFrames) {
    for (frame, place) in stored.frames { places.set(place, at: frame) }
    cache.insert(written: stored.frames.lazy.map(\.frame).filter { self.isLone($0) })
    for (blob, place) in stored.blobs { blobs.evict(blob, storedAt: place) }
  }

  /// Whether a page leads to no other.
  func isLone(_ frame: UInt64) -> Bool {
    let page = PageImage(UnsafeRawPointer(arena.address(frame)))
    return page.isLeaf && page.flags & PageFlags.hasOverflow == 0
  }

  /// Whether all that is in memory of a page is its number.
  func isEvicted(_ reference: ChildReference) -> Bool {
    guard reference.location.isFrame, places.isStored(reference.location.number) else { return false }
    let page = PageImage(UnsafeRawPointer(arena.address(reference.location.number)))
    return page.flags & PageFlags.evicted != 0 || page.kind == 0
  }
}
