/// Gathers the images of a checkpoint into large writes, and makes these writes while the checkpoint prepares
/// the next images. Images that come one after the other, and are adjacent in the file, are written together.
/// The device begins with each batch at once, so that little is left for the sync.
///
/// The caller calls ``finish()``, or ``stop()`` after an error: otherwise a write could still be under way
/// when the pages have other uses.
final class PageOutput {
  private let writer: BatchWriter
  private let pageSize: UInt64
  private let batchByteCount: Int
  private var batch = PageBatch()

  /// Has the device begin to write a range of the file.
  typealias StartWriteback = @Sendable (Range<UInt64>) throws(StoreError) -> Void

  /// - Parameter startWriteback: called on any thread after a batch was written. If it throws, bytes may be
  ///   lost, also bytes of the log: it has to fence the log.
  init(
    file: StoreFile,
    pageSize: UInt64,
    environment: StoreEnvironment,
    startWriteback: @escaping StartWriteback
  ) {
    writer = BatchWriter(file: file, environment: environment, startWriteback: startWriteback)
    self.pageSize = pageSize
    batchByteCount = environment.pageBatchByteCount
  }

  /// Takes whole pages, of which the first has this number. Throws the error of an earlier write.
  func append(_ bytes: UnsafeRawBufferPointer, at number: UInt64) throws(StoreError) {
    if batch.bytes.count >= batchByteCount { batch = try writer.submit(batch) }
    batch.append(bytes, at: number * pageSize)
  }

  /// Writes the rest of the images, and returns when all are written.
  func finish() throws(StoreError) {
    stop()
    try writer.write(batch)
  }

  /// Waits until no write is under way. Images that weren't submitted are not written.
  func stop() { writer.waitUntilIdle() }
}

/// Images in the order in which they are written.
private struct PageBatch {
  /// A part of the file that is written with one call.
  struct Run {
    var offset: UInt64
    var byteCount: Int

    var end: UInt64 { offset + UInt64(byteCount) }
  }

  private(set) var bytes: [UInt8] = []
  private(set) var runs: [Run] = []

  /// The part of the file from the first to the last byte of the images.
  var range: Range<UInt64> {
    let start = runs.lazy.map(\.offset).min() ?? 0
    return start..<(runs.lazy.map(\.end).max() ?? start)
  }

  mutating func append(_ image: UnsafeRawBufferPointer, at offset: UInt64) {
    bytes.append(contentsOf: image)
    if let last = runs.last, last.end == offset {
      runs[runs.count - 1].byteCount += image.count
    } else {
      runs.append(Run(offset: offset, byteCount: image.count))
    }
  }

  /// Removes the images. Keeps the memory for others.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    runs.removeAll(keepingCapacity: true)
  }
}

/// Writes batches one after the other, concurrently with its caller. One batch waits at most.
// Safety: mutable state is only touched with `monitor` locked.
private final class BatchWriter: @unchecked Sendable {
  private let file: StoreFile
  private let environment: StoreEnvironment
  private let startWriteback: PageOutput.StartWriteback
  private let monitor = Monitor()
  private var waiting: PageBatch?
  /// An empty batch with the memory of one that was written.
  private var spare: PageBatch?
  private var isWriting = false
  private var failure: StoreError?

  init(
    file: StoreFile,
    environment: StoreEnvironment,
    startWriteback: @escaping PageOutput.StartWriteback
  ) {
    self.file = file
    self.environment = environment
    self.startWriteback = startWriteback
  }

  /// Takes a batch, and returns an empty one. Waits while another batch waits. Throws the error of an earlier
  /// batch.
  func submit(_ batch: PageBatch) throws(StoreError) -> PageBatch {
    let (empty, starts) = try monitor.withLock { () throws(StoreError) in
      while waiting != nil { monitor.wait() }
      if let failure { throw failure }
      waiting = batch
      defer {
        spare = nil
        isWriting = true
      }
      return (spare ?? PageBatch(), !isWriting)
    }
    if starts { environment.runConcurrently { self.writeWaiting() } }
    return empty
  }

  /// Writes batches until none waits.
  private func writeWaiting() {
    while var batch = takeWaiting() {
      do throws(StoreError) {
        try write(batch)
      } catch {
        monitor.withLock { failure = error }
      }
      batch.removeAll()
      monitor.withLock { spare = batch }
    }
  }

  private func takeWaiting() -> PageBatch? {
    monitor.withLock {
      defer { monitor.wakeAll() }
      guard let batch = waiting else {
        isWriting = false
        return nil
      }
      waiting = nil
      return batch
    }
  }

  func waitUntilIdle() {
    monitor.withLock { while isWriting { monitor.wait() } }
  }

  /// Writes a batch on this thread, and has the device begin with it. Throws the error of an earlier batch
  /// instead, if there is one.
  func write(_ batch: PageBatch) throws(StoreError) {
    if let failure = monitor.withLock({ failure }) { throw failure }
    var start = 0
    for run in batch.runs {
      try batch.bytes.withBytes { bytes throws(StoreError) in
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[start..<start + run.byteCount])
        try file.write(bytes, at: run.offset)
      }
      start += run.byteCount
    }
    if !batch.runs.isEmpty { try startWriteback(batch.range) }
  }
}
