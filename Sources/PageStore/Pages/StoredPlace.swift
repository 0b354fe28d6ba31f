/// Where a checkpoint has written a frame or buffer that the trees in memory still consist of.
///
/// A checkpoint that runs beside commits leaves the frames where they are: the versions since refer to them too. It only
/// notes, in a part of the frame that nobody else reads, which page of the file has the same content; a later checkpoint
/// that meets the frame below a changed page refers to that page and need not write it again.
struct StoredPlace: Hashable {
  /// The page's number; 0 if the frame was not written yet.
  var number: UInt64
  var checksum: UInt64

  static let none = StoredPlace(number: 0, checksum: 0)

  var isNone: Bool { number == 0 }

  init(number: UInt64, checksum: UInt64) {
    self.number = number
    self.checksum = checksum
  }

  init(loading bytes: UnsafeRawPointer) {
    checksum = bytes.loadLittle(PageHeader.checksum)
    number = bytes.loadLittle(PageHeader.number)
  }

  func store(to bytes: UnsafeMutableRawPointer) {
    bytes.storeLittle(checksum, PageHeader.checksum)
    bytes.storeLittle(number, PageHeader.number)
  }
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
    StoredPlace(loading: arena.address(reference.location.number))
  }

  /// Where the overflow of a reference was written, if it is a buffer that was.
  func storedPlace(ofOverflow reference: ChildReference) -> StoredPlace {
    blobs.storedPlace(reference.location.number)
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

  /// The commit that made a frame.
  func birth(ofFrame frame: UInt64) -> UInt64 { PageImage(UnsafeRawPointer(arena.address(frame))).birth }

  /// Notes what a checkpoint has written and synced. Called by one checkpoint at a time, while a snapshot holds the version
  /// that was written.
  func note(_ stored: StoredFrames) {
    for (frame, place) in stored.frames { place.store(to: arena.address(frame)) }
    for (blob, place) in stored.blobs { blobs.setStoredPlace(place, of: blob) }
  }
}
