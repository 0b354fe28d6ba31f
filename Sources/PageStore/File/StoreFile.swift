import Glibc
import Synchronization

/// A store's file as the engine uses it: every transfer is complete, or throws a typed error.
///
/// Each call keeps the file open until it ends; ``close()`` waits for the calls under way.
///
/// Interrupted and partial calls are retried here and nowhere else. A failed sync is reported and never
/// retried: after a failure the kernel marks the pages as clean, so that a second sync that succeeds proves
/// nothing (Rebello et al., *Can Applications Recover from fsync Failures?*, ATC 2020).
final class StoreFile: Sendable {
  let path: String
  /// The file's path with links resolved; nil if the path isn't checked.
  private let resolvedPath: String?
  private let file: any RandomAccessFile
  private let forkGeneration: UInt64
  private let calls = CallCount()
  private let lacksDurableWrites = Atomic(false)
  private let syncs = Atomic<UInt64>(0)
  private let bytesWritten = Atomic<UInt64>(0)

  /// The permission bits of the file, as for `chmod`; nil if it has none.
  var permissions: UInt32? {
    guard (try? begin()) != nil else { return nil }
    defer { calls.end() }
    return file.permissions
  }

  /// How often a call may be interrupted or transfer nothing before it counts as failed.
  private static let patience = 1_000

  init(_ file: any RandomAccessFile, path: String, resolvedPath: String? = nil) {
    self.file = file
    self.path = path
    self.resolvedPath = resolvedPath
    forkGeneration = ForkGuard.generation
  }

  /// Durable writes and syncs so far.
  var syncCount: UInt64 { syncs.load(ordering: .relaxed) }
  var writtenByteCount: UInt64 { bytesWritten.load(ordering: .relaxed) }

  /// Throws `closed` if the store has been closed, or if this process is a fork of the one that opened it.
  func checkOpen() throws(StoreError) {
    try checkForked()
    if calls.isClosed { throw closedError }
  }

  /// Throws `closed` if this process is a fork of the one that opened the store.
  func checkForked() throws(StoreError) {
    if forkGeneration != ForkGuard.generation {
      throw StoreError(
        .closed,
        "the store was opened before this process was forked; open it again in the child",
        context: .init(path: path)
      )
    }
  }

  private var closedError: StoreError {
    StoreError(.closed, "the store is closed", context: .init(path: path))
  }

  /// Throws `fileGone` if the file was deleted, or another file is at its path. One system call if not.
  func checkPath() throws(StoreError) {
    guard let resolvedPath else { return }
    try begin()
    defer { calls.end() }
    guard !file.isFound(at: resolvedPath) else { return }
    throw StoreError(
      .fileGone,
      "the store's file was deleted or replaced while it was open: what is written now would be lost",
      context: .init(path: path)
    )
  }

  /// Begins a call on the file, to be ended by `calls.end()`. Throws `closed`.
  private func begin() throws(StoreError) {
    try checkOpen()
    guard calls.begin() else { throw closedError }
  }

  /// Reads until the buffer is full or the file ends; returns the bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
    try begin()
    defer { calls.end() }
    var done = 0
    var interruptions = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = file.read(into: rest, at: offset + UInt64(done))
      if count == 0 { break }
      if count < 0 {
        try passInterruption(Int32(-count), "pread", at: offset, &interruptions)
      } else {
        done += min(count, rest.count)
      }
    }
    return done
  }

  /// Reads all of the buffer, or throws `corrupt` because the file is too short.
  func readExactly(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guard try read(into: buffer, at: offset) == buffer.count else {
      throw StoreError(
        .corrupt,
        "the file ends before byte \(offset) + \(buffer.count)",
        context: .init(path: path, offset: offset)
      )
    }
  }

  /// Writes all the bytes. They are durable after the next ``synchronize()``.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try transfer(bytes, at: offset, "pwrite") { file.write($0, at: $1) }
  }

  /// Writes all the bytes and returns when they are durable: with one call if the system can, otherwise with
  /// a write and a sync of the file.
  func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    if !lacksDurableWrites.load(ordering: .relaxed) {
      do {
        try transfer(bytes, at: offset, "pwritev2") { file.writeDurably($0, at: $1) }
        syncs.wrappingAdd(1, ordering: .relaxed)
        return
      } catch {
        guard let errno = error.systemError?.errno, [EOPNOTSUPP, EINVAL, ENOSYS].contains(errno) else {
          throw error
        }
        lacksDurableWrites.store(true, ordering: .relaxed)
      }
    }
    try write(bytes, at: offset)
    // guard: sync-where-durable-writes-are-refused
    try synchronize()
  }

  /// Makes everything written so far durable. Only for the writer of the log, and for other code while the
  /// writer of the log is idle.
  func synchronize() throws(StoreError) { try synchronize { file.synchronize() } }

  /// Makes everything written so far durable while the log may be synced too. If this fails, the log's
  /// present or next sync fails as well: the bytes that couldn't be written may have been the log's.
  func synchronizeApart() throws(StoreError) { try synchronize { file.synchronizeApart() } }

  private func synchronize(_ call: () -> Int32) throws(StoreError) {
    try begin()
    defer { calls.end() }
    var interruptions = 0
    while true {
      let result = call()
      if result >= 0 { break }
      try passInterruption(-result, "fdatasync", at: nil, &interruptions)
    }
    syncs.wrappingAdd(1, ordering: .relaxed)
  }

  /// Has the device begin to write the range, so that a later sync has less to wait for. If this throws, bytes
  /// may be lost, and maybe no sync reports that. After other failures nothing happens, and the sync writes
  /// everything.
  func startWriteback(_ range: Range<UInt64>) throws(StoreError) {
    try begin()
    defer { calls.end() }
    let result = file.startWriteback(at: range.lowerBound, byteCount: range.upperBound - range.lowerBound)
    if result >= 0 || Self.harmlessWritebackErrors.contains(-result) { return }
    throw systemError("sync_file_range", -result, at: range.lowerBound)
  }

  /// The errors of a call without effect: the system doesn't know or allow it, or has no memory at the
  /// moment. The pages stay dirty.
  private static let harmlessWritebackErrors = [
    EOPNOTSUPP, ENOSYS, EINVAL, ESPIPE, EPERM, EACCES, ENOMEM, EAGAIN, EINTR,
  ]

  /// Has the file system allocate blocks for the range; false if it can't do that ahead of a write. Throws
  /// `diskFull`.
  @discardableResult
  func allocate(_ range: Range<UInt64>) throws(StoreError) -> Bool {
    try begin()
    defer { calls.end() }
    var interruptions = 0
    while true {
      let result = file.allocate(at: range.lowerBound, byteCount: range.upperBound - range.lowerBound)
      if result >= 0 { return true }
      if [EOPNOTSUPP, ENOSYS, EINVAL].contains(-result) { return false }
      try passInterruption(-result, "fallocate", at: range.lowerBound, &interruptions)
    }
  }

  /// Gives the range's blocks back to the file system; false, with nothing changed, if it can't do that. If
  /// the call fails otherwise, any part of the range may have lost its blocks.
  func punchHole(_ range: Range<UInt64>) throws(StoreError) -> Bool {
    try begin()
    defer { calls.end() }
    let result = file.punchHole(at: range.lowerBound, byteCount: range.upperBound - range.lowerBound)
    return ![EOPNOTSUPP, ENOSYS, EINVAL].contains(-result)
  }

  func truncate(to byteCount: UInt64) throws(StoreError) {
    try begin()
    defer { calls.end() }
    var interruptions = 0
    while true {
      let result = file.truncate(to: byteCount)
      if result >= 0 { return }
      try passInterruption(-result, "ftruncate", at: byteCount, &interruptions)
    }
  }

  func byteCount() throws(StoreError) -> UInt64 {
    try begin()
    defer { calls.end() }
    let result = file.byteCount()
    if result < 0 { throw systemError("fstat", Int32(-result), at: nil) }
    return UInt64(result)
  }

  /// Returns the first offset, from `offset` on, of a byte that may not be zero; nil if all bytes up to the
  /// end are zeros. Returns `offset` if the file system doesn't know.
  func nextData(from offset: UInt64) throws(StoreError) -> UInt64? {
    try begin()
    defer { calls.end() }
    let result = file.nextData(from: offset)
    if result == -Int64(ENXIO) { return nil }
    return result < 0 ? offset : UInt64(result)
  }

  /// Closes the file and releases its locks when the calls under way have ended. Later calls throw `closed`.
  func close() {
    guard calls.close() else { return }
    // In a forked child the calls of the parent's threads never end.
    if forkGeneration == ForkGuard.generation { calls.waitForLast() }
    file.close()
  }

  private func transfer(
    _ bytes: UnsafeRawBufferPointer,
    at offset: UInt64,
    _ name: String,
    _ call: (UnsafeRawBufferPointer, UInt64) -> Int
  ) throws(StoreError) {
    try begin()
    defer { calls.end() }
    var done = 0
    var interruptions = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = call(rest, offset + UInt64(done))
      if count > 0 {
        done += min(count, rest.count)
      } else {
        // A write that transfers nothing without an error is treated as interrupted.
        try passInterruption(count == 0 ? EINTR : Int32(-count), name, at: offset, &interruptions)
      }
    }
    bytesWritten.wrappingAdd(UInt64(bytes.count), ordering: .relaxed)
  }

  private func passInterruption(
    _ errno: Int32,
    _ call: String,
    at offset: UInt64?,
    _ interruptions: inout Int
  ) throws(StoreError) {
    interruptions += 1
    if errno != EINTR || interruptions > Self.patience { throw systemError(call, errno, at: offset) }
  }

  private func systemError(_ call: String, _ errno: Int32, at offset: UInt64?) -> StoreError {
    StoreError.system(call, errno).adding {
      $0.path = path
      $0.offset = offset
    }
  }
}

extension StoreError {
  /// Returns the error for a failed system call.
  package static func system(_ call: String, _ errno: Int32) -> StoreError {
    let isFull = [ENOSPC, EDQUOT, EFBIG].contains(errno)
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    return StoreError(
      isFull ? .diskFull : .inputOutput,
      "\(call) failed: \(reason)",
      systemError: SystemError(call: call, errno: errno)
    )
  }
}
