import CLinux
import Glibc
import Synchronization

/// A file of the file system. One system call per function; see ``RandomAccessFile``.
final class PosixFile: RandomAccessFile {
  /// -1 once closed.
  private let descriptorStorage: Atomic<Int32>
  /// The second opening of the file, for ``synchronizeApart()``. -1 before it is needed, and once closed.
  private let apartStorage = Atomic<Int32>(-1)
  private let forkGeneration = ForkGuard.generation

  /// The identity of the file, if it was determined at the opening. It doesn't change while the file is open.
  let knownIdentity: Identity?

  init(descriptor: Int32, identity: Identity? = nil) {
    descriptorStorage = Atomic(descriptor)
    knownIdentity = identity
  }

  deinit { close() }

  var descriptor: Int32 { descriptorStorage.load(ordering: .relaxed) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    negated(pread(descriptor, buffer.baseAddress, buffer.count, Int(offset)))
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    negated(pwrite(descriptor, bytes.baseAddress, bytes.count, Int(offset)))
  }

  func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    Int(clinux_pwrite_dsync(descriptor, bytes.baseAddress, UInt64(bytes.count), Int64(offset)))
  }

  func synchronize() -> Int32 {
    fdatasync(descriptor) == 0 ? 0 : -errno
  }

  func synchronizeApart() -> Int32 {
    // Without /proc, or without a free descriptor, a shared sync is better than none.
    guard let apart = openApart() else { return synchronize() }
    return fdatasync(apart) == 0 ? 0 : -errno
  }

  func startWriteback(at offset: UInt64, byteCount: UInt64) -> Int32 {
    // An opening reports the failures since it was made, and an earlier one only if no other process has been
    // told of it. So it is made before the device begins to write.
    _ = openApart()
    return clinux_start_writeback(descriptor, Int64(offset), Int64(byteCount))
  }

  /// Returns the second opening of the file, which the first call makes; nil if there can be none.
  private func openApart() -> Int32? {
    let known = apartStorage.load(ordering: .acquiring)
    if known >= 0 { return known }
    let path = "/proc/self/fd/\(descriptor)"
    var new = Glibc.open(path, O_RDWR | O_CLOEXEC)
    while new < 0, errno == EINTR { new = Glibc.open(path, O_RDWR | O_CLOEXEC) }
    guard new >= 0, let new = try? Self.aboveStandardStreams(new) else { return nil }
    let (isFirst, other) = apartStorage.compareExchange(
      expected: -1,
      desired: new,
      ordering: .acquiringAndReleasing
    )
    if isFirst { return new }
    _ = Glibc.close(new)
    return other
  }

  func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 {
    clinux_fallocate(descriptor, Int64(offset), Int64(byteCount))
  }

  func punchHole(at offset: UInt64, byteCount: UInt64) -> Int32 {
    clinux_punch_hole(descriptor, Int64(offset), Int64(byteCount))
  }

  func truncate(to byteCount: UInt64) -> Int32 {
    ftruncate(descriptor, Int(byteCount)) == 0 ? 0 : -errno
  }

  func byteCount() -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -Int64(errno)
  }

  func nextData(from offset: UInt64) -> Int64 { clinux_next_data(descriptor, Int64(offset)) }

  var permissions: UInt32? { (try? status()).map { UInt32($0.st_mode) & 0o777 } }

  func close() {
    let open = descriptorStorage.exchange(-1, ordering: .relaxed)
    guard open >= 0 else { return }
    // The file's lock is released explicitly, because a forked child shares it and would keep it. The child
    // must not release its parent's lock.
    if forkGeneration == ForkGuard.generation { FileLock.release(open) }
    _ = Glibc.close(open)
    let apart = apartStorage.exchange(-1, ordering: .acquiringAndReleasing)
    if apart >= 0 { _ = Glibc.close(apart) }
  }

  private func negated(_ result: Int) -> Int {
    result < 0 ? -Int(errno) : result
  }
}

extension PosixFile {
  /// The identity of a file, whichever path led to it.
  struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  func identity() throws(StoreError) -> Identity {
    if let knownIdentity { return knownIdentity }
    return Self.identity(of: try status())
  }

  static func identity(of status: stat) -> Identity {
    Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  func status() throws(StoreError) -> stat { try Self.status(of: descriptor) }

  private static func status(of descriptor: Int32) throws(StoreError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("fstat", errno) }
    return status
  }

  /// Opens the file at `path`, or makes an empty one if it is missing and `createsIfMissing` is true. Throws
  /// `notAStore` for anything but a regular file, such as a device, a pipe or a folder.
  static func open(
    path: String,
    isReadOnly: Bool,
    createsIfMissing: Bool,
    permissions: UInt16 = 0o600
  ) throws(StoreError) -> PosixFile {
    let flags = isReadOnly ? O_RDONLY : createsIfMissing ? O_RDWR | O_CREAT : O_RDWR
    return try open(path: path, flags: flags, permissions: mode_t(permissions))
  }

  /// Opens the file at `path` with the flags of `open(2)`. Throws `notAStore` for anything but a regular
  /// file.
  static func open(path: String, flags: Int32, permissions: mode_t = 0o600) throws(StoreError) -> PosixFile {
    // So that opening a pipe doesn't block, and a terminal doesn't become the controlling one.
    let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    var descriptor = Glibc.open(path, flags, permissions)
    while descriptor < 0 {
      if errno != EINTR { throw .system("open", errno).adding { $0.path = path } }
      descriptor = Glibc.open(path, flags, permissions)
    }
    descriptor = try aboveStandardStreams(descriptor)
    let status: stat
    do throws(StoreError) {
      status = try Self.status(of: descriptor)
    } catch {
      _ = Glibc.close(descriptor)
      throw error
    }
    let file = PosixFile(descriptor: descriptor, identity: identity(of: status))
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(
        .notAStore,
        "the file is not a store: it is not a regular file",
        context: .init(path: path)
      )
    }
    return file
  }

  /// Opens a file without a name in the folder of `path`. It is deleted when it is closed.
  static func openUnnamed(beside path: String) throws(StoreError) -> PosixFile {
    let folder = folder(of: path)
    let descriptor = clinux_open_unnamed(folder)
    guard descriptor >= 0 else { throw .system("open", -descriptor).adding { $0.path = folder } }
    return PosixFile(descriptor: try aboveStandardStreams(descriptor))
  }

  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// Syncs the folder of `path`, so that the name of a new file survives a power failure.
  static func synchronizeFolder(of path: String) throws(StoreError) {
    let folder = folder(of: path)
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", errno).adding { $0.path = folder } }
    defer { _ = Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system("fsync", errno).adding { $0.path = folder } }
  }
}
