/// The page to which a frame or buffer was written, while trees in memory still refer to the frame or buffer.
///
/// A concurrent checkpoint leaves the frames in the trees, because later versions refer to them too. It notes
/// which page of the file has the same contents. A later checkpoint that meets the frame below a changed page
/// refers to that page instead of writing the frame again. And such a frame need not stay in memory.
struct StoredPlace: Hashable {
  /// The page's number; 0 if the frame wasn't written yet.
  var number: UInt64
  var checksum: UInt64

  static let none = StoredPlace(number: 0, checksum: 0)

  var isNone: Bool { number == 0 }
}

extension ChildReference {
  /// The stored place of a reference to a page of the file.
  var place: StoredPlace { StoredPlace(number: location.number, checksum: checksum) }

  /// Returns the reference with its location and checksum replaced by those of `place`.
  func moved(to place: StoredPlace) -> ChildReference {
    var reference = self
    reference.location = .page(place.number)
    reference.checksum = place.checksum
    return reference
  }
}

/// The stored places of the frames and buffers that a checkpoint has written, to be noted once it is durable.
struct StoredFrames {
  var frames: [(frame: UInt64, place: StoredPlace)] = []
  var blobs: [(blob: UInt64, place: StoredPlace)] = []
}

extension PagePool {
  /// Returns the page to which the frame of a reference was written; none if it wasn't.
  func storedPlace(ofPage reference: ChildReference) -> StoredPlace {
    places[reference.location.number]
  }

  /// Returns the first page to which the overflow buffer of a reference was written; none if it wasn't.
  func storedPlace(ofOverflow reference: ChildReference) -> StoredPlace {
    blobs.places[reference.location.number]
  }

  /// Returns the root of the tree in the file if the whole tree was written; otherwise `root`.
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
  /// From then on leaves are part of the cache, and buffers are evicted: overflow is read from its pages.
  /// Branches stay in memory, and so do leaves with overflow: their images in the file refer to pages, and
  /// only the frames refer to the memory below them.
  func note(_ stored: StoredFrames) {
    for (frame, place) in stored.frames { places.set(place, at: frame) }
    cache.insert(written: stored.frames.lazy.map(\.frame).filter { self.isLone($0) })
    for (blob, place) in stored.blobs { blobs.evict(blob, storedAt: place) }
  }

  /// Returns whether a page refers to no other page.
  func isLone(_ frame: UInt64) -> Bool {
    let page = PageImage(UnsafeRawPointer(arena.address(frame)))
    return page.isLeaf && page.flags & PageFlags.hasOverflow == 0
  }

  /// Returns whether the frame of a reference was evicted, so that only its number is left.
  func isEvicted(_ reference: ChildReference) -> Bool {
    guard reference.location.isFrame, places.isStored(reference.location.number) else { return false }
    let page = PageImage(UnsafeRawPointer(arena.address(reference.location.number)))
    return page.flags & PageFlags.evicted != 0 || page.kind == 0
  }
}
