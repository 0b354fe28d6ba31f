import CLinux
import Synchronization

/// Finds the bytes of the page that a reference leads to. Every lookup goes through it.
///
/// It is one pointer to a few words that never change, so that a version of a tree is a plain value: copying
/// it and walking down the tree touch no reference count that readers on other threads share. The pool is
/// asked only for pages that aren't in memory.
///
/// The caller has called ``enter()``. A page that was found stays until the end of the walk; then it may be
/// evicted, unless it is protected.
// Safety: the fields are written once, before the pool is shared, and live as long as the pool, which the
// store keeps alive for its snapshots and transactions.
struct PageMap: @unchecked Sendable {
  private let fields: UnsafePointer<Fields>

  struct Fields {
    /// The address of each slab of frames.
    let slabs: UnsafePointer<Atomic<UInt>>
    /// The cached pages of the file.
    let pages: PageTable
    let geometry: PageGeometry
    let readers: Unmanaged<ReaderTable>
    let pool: Unmanaged<PagePool>
  }

  init(_ fields: UnsafePointer<Fields>) { self.fields = fields }

  @inline(__always)
  var geometry: PageGeometry { fields.pointee.geometry }

  /// The pool, for pages that aren't in memory.
  var pool: PagePool { fields.pointee.pool.takeUnretainedValue() }

  /// Begins to read. The caller ends it with ``Reader/leave(visiting:)``.
  @inline(__always)
  func enter() -> Reader { fields.pointee.readers._withUnsafeGuaranteedRef { $0.enter() } }

  /// Returns the page that the reference at `bytes` leads to. Throws `corrupt` if its identity isn't
  /// `identity`.
  @inline(__always)
  func page(referredToAt bytes: UnsafeRawPointer, identity: UInt64) throws(StoreError) -> PageImage {
    if let image = residentPage(PageLocation(rawValue: bytes.loadLittle(0)), identity) { return image }
    return try fetch(ChildReference(loading: bytes), identity: identity)
  }

  /// Returns the page that `reference` leads to. Throws `corrupt` if its identity isn't `identity`.
  @inline(__always)
  func page(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
    if let image = residentPage(reference.location, identity) { return image }
    return try fetch(reference, identity: identity)
  }

  /// Prefetches the header of the page that the reference at `bytes` leads to, and its first slots. The
  /// processor loads them while the caller continues. Does nothing for a page that isn't in memory.
  @inline(__always)
  func prefetch(referredToAt bytes: UnsafeRawPointer) {
    let location = PageLocation(rawValue: bytes.loadLittle(0))
    let page =
      location.isFrame
      ? FrameArena.address(location.number, in: fields.pointee.slabs, fields.pointee.geometry)
      : fields.pointee.pages.lookUp(location.rawValue)
    guard let page else { return }
    // The header is one line of the cache; the others have forty slots.
    for line in 0..<6 { clinux_prefetch(page + line &* 64) }
  }

  /// Returns the bytes of an overflowing value, or of the rest of a key.
  func overflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    try pool.overflow(reference, treeID: treeID)
  }

  /// Returns the page if it is in memory and has the identity; otherwise nil.
  @inline(__always)
  private func residentPage(_ location: PageLocation, _ identity: UInt64) -> PageImage? {
    guard location.isFrame else {
      guard let image = cachedPage(location), image.identity == identity else { return nil }
      return image
    }
    let frame = FrameArena.address(location.number, in: fields.pointee.slabs, fields.pointee.geometry)
    let image = PageImage(frame)
    // The use is noted only after this check: writing to an evicted frame would allocate its memory again.
    guard image.identity == identity else { return nil }
    FrameHeader(UnsafeMutableRawPointer(mutating: frame)).noteUse()
    return image
  }

  @inline(__always)
  private func cachedPage(_ location: PageLocation) -> PageImage? {
    fields.pointee.pages.lookUp(location.rawValue).map { PageImage($0) }
  }

  /// Returns the page of a reference that ``residentPage(_:_:)`` didn't find.
  @inline(never)
  private func fetch(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
    var reference = reference
    if reference.location.isFrame {
      // Only frames that were written are evicted.
      let place = pool.storedPlace(ofPage: reference)
      guard !place.isNone else { throw PagePool.misplaced(reference.location) }
      reference = reference.moved(to: place)
    }
    guard let image = cachedPage(reference.location) else {
      return try pool.load(reference, identity: identity)
    }
    // Another thread may have read the page in the meantime.
    guard image.identity == identity else { throw PagePool.misplaced(reference.location) }
    return image
  }
}
