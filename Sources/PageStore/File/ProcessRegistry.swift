import Glibc

/// The stores that this process has open, by file, and the handles on each: opening a file twice gives two
/// handles on one store.
///
/// A store that lost its last handle without being closed stays until its last reference is released, and
/// gets another handle if the file is opened again by then. Entries hold their store weakly. An entry whose
/// store was deallocated, or is being closed, stays until the store's file is closed: so an opening can tell
/// a store that this process is closing from one that another process holds. A store removes only its own
/// entry: when it is deallocated, a later store of the same file may be registered.
// Safety: `entries` and its elements are only touched with `monitor` locked.
final class ProcessRegistry: @unchecked Sendable {
  static let shared = ProcessRegistry()

  private final class Entry {
    let file: PosixFile.Identity
    let options: StoreOptions
    /// Nil while a thread is opening the store.
    private(set) var identifier: ObjectIdentifier?
    private(set) weak var store: SharedStore?
    var handles = 1
    var isClosing = false

    init(_ file: PosixFile.Identity, options: StoreOptions) {
      self.file = file
      self.options = options
    }

    func fill(_ store: SharedStore) {
      self.store = store
      identifier = ObjectIdentifier(store)
    }
  }

  private let monitor = Monitor()
  /// An array, because a process has few stores open, and making the first dictionary of its kind takes
  /// longer than opening a store.
  private var entries: [Entry] = []

  /// Returns the open store of this file, or the one that `make` opens, with one more handle; nil if `make`
  /// returns nil. Other threads that open the same file wait; other files may be opened meanwhile.
  func store(
    for file: PosixFile.Identity,
    options: StoreOptions,
    path: String,
    make: () throws(StoreError) -> SharedStore?
  ) throws(StoreError) -> SharedStore? {
    // Released only when `monitor` is unlocked: if this has become the last reference, the store's deinit
    // locks it.
    var found: SharedStore?
    defer { withExtendedLifetime(found) {} }
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      guard let entry = entry(of: file) else { break }
      if !entry.isClosing { found = entry.store }
      guard let store = found else {
        // Another thread is opening or closing the store, or running its deinit. It fills or removes the
        // entry when `monitor` is unlocked.
        monitor.wait()
        continue
      }
      guard entry.options.openTheSame(as: options) else {
        throw StoreError(
          .storeInUse,
          "this process has the store open with other options",
          context: .init(path: path)
        )
      }
      entry.handles += 1
      return store
    }
    return try fill(Entry(file, options: options), make)
  }

  /// Adds an entry, and runs `make` for it with `monitor` unlocked. The caller has it locked before and after.
  private func fill(
    _ entry: Entry,
    _ make: () throws(StoreError) -> SharedStore?
  ) throws(StoreError) -> SharedStore? {
    entries.append(entry)
    monitor.unlock()
    var store: SharedStore?
    defer {
      monitor.lock()
      if let store { entry.fill(store) } else { entries.removeAll { $0 === entry } }
      monitor.wakeAll()
    }
    store = try make()
    return store
  }

  private func entry(of file: PosixFile.Identity) -> Entry? { entries.first { $0.file == file } }

  /// Releases one handle of this store. True if it was the last one and `isClosing`: then the caller closes
  /// the store and calls ``remove(_:of:)``.
  func releaseHandle(of store: ObjectIdentifier, _ file: PosixFile.Identity, isClosing: Bool) -> Bool {
    monitor.withLock {
      guard let entry = entry(of: file), entry.identifier == store else { return false }
      entry.handles -= 1
      entry.isClosing = isClosing && entry.handles == 0
      return entry.isClosing
    }
  }

  /// Forgets a store whose file has been closed, unless it was forgotten before.
  func remove(_ file: PosixFile.Identity, of store: ObjectIdentifier) {
    monitor.withLock {
      guard let entry = entry(of: file), entry.identifier == store else { return }
      entries.removeAll { $0 === entry }
      monitor.wakeAll()
    }
  }

  func lockForFork() { monitor.lock() }
  func unlockAfterFork() { monitor.unlock() }

  /// Forgets the parent's stores, which this process doesn't have open. Called in the child.
  func forgetAfterFork() {
    entries.removeAll()
    monitor.unlock()
  }
}
