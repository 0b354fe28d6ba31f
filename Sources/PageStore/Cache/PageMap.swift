import Synchronization

/// The way from a reference to a page's bytes: what every lookup goes through.
///
/// One pointer to a few words that never change, so that a version of a tree is a plain value: copying it,
/// and walking down the tree, touches no reference count that readers on other threads would touch too. The
/// pool that made it is asked only for pages that aren't in memory.
///
/// Whoever asks for pages has entered first. What was found is good until the end of the walk; then eviction may take it,
/// unless it was protected.
// Safety: what it points to is written once, before the pool is shared, and lives as long as the pool, which
// the store keeps alive for its snapshots and transactions.
struct PageMap: @unchecked Sendable {
  private let fields: UnsafePointer<Fields>

  struct Fields {
    /// Frames: address of each slab.
    let slabs: UnsafePointer<Atomic<UInt>>
    /// Pages of the cache.
    let pages: PageTable
    let geometry: PageGeometry
    let readers: Unmanaged<ReaderTable>
    let pool: Unmanaged<PagePool>
  }

  init(_ fields: UnsafePointer<Fields>) { self.fields = fields }

  @inline(__always)
  var geometry: PageGeometry { fields.pointee.geometry }

  /// The pool, for what isn't in memory yet.
  var pool: PagePool { fields.pointee.pool.takeUnretainedValue() }

  /// Begins to read; ends with ``Reader/leave(visiting:)``.
  @inline(__always)
  func enter() -> Reader { fields.pointee.readers._withUnsafeGuaranteedRef { $0.enter() } }

  /// The page that the reference at `bytes` leads to, which must be what `identity` says.
  @inline(__always)
  func page(referredToAt bytes: UnsafeRawPointer, identity: UInt64) throws(StoreError) -> PageImage {
    if let image = residentPage(PageLocation(rawValue: bytes.loadLittle(0)), identity) { return image }
    return try fetch(ChildReference(loading: bytes), identity: identity)
  }

  /// The page that `reference` leads to, which must be what `identity` says.
  @inline(__always)
  func page(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
    if let image = residentPage(reference.location, identity) { return image }
    return try fetch(reference, identity: identity)
  }

  /// The bytes of an overflowing value or key's rest.
  func overflow(_ reference: ChildReference, treeID: UInt32) throws(StoreError) -> ValueBytes {
    try pool.overflow(reference, treeID: treeID)
  }

  /// The page, if it is in memory and is what it should be.
  @inline(__always)
  private func residentPage(_ location: PageLocation, _ identity: UInt64) -> PageImage? {
    guard location.isFrame else {
      guard let image = cachedPage(location), image.identity == identity else { return nil }
      return image
    }
    let frame = FrameArena.address(location.number, in: fields.pointee.slabs, fields.pointee.geometry)
    let image = PageImage(frame)
    // Writing to a frame that was evicted would bring its memory back.
    guard image.identity == identity else { return nil }
    FrameHeader(UnsafeMutableRawPointer(mutating: frame)).noteUse()
    return image
  }

  @inline(__always)
  private func cachedPage(_ location: PageLocation) -> PageImage? {
    fields.pointee.pages.lookUp(location.rawValue).map { PageImage($0) }
  }

  /// A page that isn't in memory, or isn't what it should be.
  @inline(never)
  private func fetch(_ reference: ChildReference, identity: UInt64) throws(StoreError) -> PageImage {
    var reference = reference
    if reference.location.isFrame {
      // Only what was written is evicted.
      let place = pool.storedPlace(ofPage: reference)
      guard !place.isNone else { throw PagePool.misplaced(reference.location) }
      reference = reference.moved(to: place)
    }
    guard let image = cachedPage(reference.location) else {
      return try pool.load(reference, identity: identity)
    }
    // Another thread may have read it in the meantime.
    guard image.identity == identity else { throw PagePool.misplaced(reference.location) }
    return image
  }
}
