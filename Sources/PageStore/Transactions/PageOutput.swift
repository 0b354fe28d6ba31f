/// Gathers the images of a checkpoint into large writes, and makes these writes while the checkpoint prepares
/// the next images. Images that come one after the other, and are adjacent in the file, are written together.
/// The device begins to write them before they are synced.
///
/// The caller calls ``finish()``, or ``stop()`` after an error: otherwise a write could still be under way
/// when the pages have other uses.
final class PageOutput {
  private let writer: BatchWriter
  private let pageSize: UInt64
  private var batch = PageBatch()

  private static let batchByteCount = 1 << 20

  init(file: StoreFile, pageSize: UInt64, environment: StoreEnvironment) {
    writer = BatchWriter(file: file, environment: environment)
    self.pageSize = pageSize
  }

  /// Takes whole pages, of which the first has this number. Throws the error of an earlier write.
  func append(_ bytes: UnsafeRawBufferPointer, at number: UInt64) throws(StoreError) {
    if batch.bytes.count >= Self.batchByteCount { batch = try writer.submit(batch) }
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
  }

  private(set) var bytes: [UInt8] = []
  private(set) var runs: [Run] = []
  /// The part of the file in which all runs lie; empty if there are none.
  private(set) var bounds: Range<UInt64> = 0..<0

  mutating func append(_ image: UnsafeRawBufferPointer, at offset: UInt64) {
    bytes.append(contentsOf: image)
    bounds = bounds.union(offset..<offset + UInt64(image.count))
    if let last = runs.last, last.offset + UInt64(last.byteCount) == offset {
      runs[runs.count - 1].byteCount += image.count
    } else {
      runs.append(Run(offset: offset, byteCount: image.count))
    }
  }

  /// Removes the images. Keeps the memory for others.
  mutating func removeAll() {
    bounds = 0..<0
    bytes.removeAll(keepingCapacity: true)
    runs.removeAll(keepingCapacity: true)
  }
}

/// Writes batches one after the other, concurrently with its caller. One batch waits at most. The device
/// begins to write them each time some megabytes have been written to the system's cache.
// Safety: mutable state is only touched with `monitor` locked.
private final class BatchWriter: @unchecked Sendable {
  private let file: StoreFile
  private let environment: StoreEnvironment
  private let monitor = Monitor()
  private var waiting: PageBatch?
  /// An empty batch with the memory of one that was written.
  private var spare: PageBatch?
  private var isWriting = false
  private var failure: StoreError?
  /// The part of the file in which the batches lie that the device hasn't begun to write, and their bytes.
  private var unstarted: (bounds: Range<UInt64>, byteCount: Int) = (0..<0, 0)

  /// Fewer bytes make each start cost more than it gains.
  private static let startedByteCount = 8 << 20

  init(file: StoreFile, environment: StoreEnvironment) {
    self.file = file
    self.environment = environment
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
        startWriting(batch)
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

  private func startWriting(_ batch: PageBatch) {
    let bounds: Range<UInt64>? = monitor.withLock {
      unstarted.bounds = unstarted.bounds.union(batch.bounds)
      unstarted.byteCount += batch.bytes.count
      guard unstarted.byteCount >= Self.startedByteCount else { return nil }
      defer { unstarted = (0..<0, 0) }
      return unstarted.bounds
    }
    if let bounds { file.startWriting(bounds) }
  }

  func waitUntilIdle() {
    monitor.withLock { while isWriting { monitor.wait() } }
  }

  /// Writes a batch on this thread. Throws the error of an earlier batch instead, if there is one.
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
  }
}

extension Range<UInt64> {
  /// Returns the smallest range that contains this one and `other`.
  fileprivate func union(_ other: Range<UInt64>) -> Range<UInt64> {
    if isEmpty { return other }
    return Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
  }
}
