import CLinux
import Glibc
import Synchronization

/// A file of the file system. One system call per function; see ``RandomAccessFile``.
final class PosixFile: RandomAccessFile {
  /// -1 once closed.
  private let descriptorStorage: Atomic<Int32>
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
    let path = "/proc/self/fd/\(descriptor)"
    var apart = Glibc.open(path, O_RDWR | O_CLOEXEC)
    while apart < 0, errno == EINTR { apart = Glibc.open(path, O_RDWR | O_CLOEXEC) }
    // Without /proc, or without a free descriptor, a shared sync is better than none.
    guard apart >= 0, let apart = try? Self.aboveStandardStreams(apart) else { return synchronize() }
    defer { _ = Glibc.close(apart) }
    return fdatasync(apart) == 0 ? 0 : -errno
  }

  func startWriteback(at offset: UInt64, byteCount: UInt64) -> Int32 {
    clinux_start_writeback(descriptor, Int64(offset), Int64(byteCount))
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
