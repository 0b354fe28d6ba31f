import Glibc
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Images of a checkpoint that are written while others are prepared.
struct PageOutputTests {
  private static let pageSize = 4_096

  /// A file whose writes take a moment, fail from one of them on, and tell whether one is under way. It notes the
  /// write-backs, one of which may fail.
  private final class ObservedFile: RandomAccessFile {
    let file = MemoryFile()
    private let writes = Atomic(0)
    private let writing = Atomic(false)
    private let failingWrite: Int
    private let failingWriteback: Int
    private let writebacks = Mutex<[Range<UInt64>]>([])

    init(failingFrom failingWrite: Int = .max, failingWriteback: Int = .max) {
      self.failingWrite = failingWrite
      self.failingWriteback = failingWriteback
    }

    /// The ranges that the device was asked to write, in order.
    var startedRanges: [Range<UInt64>] { writebacks.withLock(\.self) }

    func startWriteback(of range: Range<UInt64>) throws(StoreError) {
      let count = writebacks.withLock { ranges in
        ranges.append(range)
        return ranges.count
      }
      if count == failingWriteback { throw StoreError.system("sync_file_range", EIO) }
    }

    var writeCount: Int { writes.load(ordering: .relaxed) }
    var isWriting: Bool { writing.load(ordering: .sequentiallyConsistent) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      writing.store(true, ordering: .sequentiallyConsistent)
      defer { writing.store(false, ordering: .sequentiallyConsistent) }
      usleep(500)
      let count = writes.add(1, ordering: .relaxed).newValue
      return count >= failingWrite ? -Int(EIO) : file.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      file.read(into: buffer, at: offset)
    }
    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Int { write(bytes, at: offset) }
    func synchronize() -> Int32 { 0 }
    func allocate(at offset: UInt64, byteCount: UInt64) -> Int32 { 0 }
    func truncate(to byteCount: UInt64) -> Int32 { file.truncate(to: byteCount) }
    func byteCount() -> Int64 { file.byteCount() }
    func close() {}
  }

  private func output(to file: ObservedFile, isConcurrent: Bool) -> PageOutput {
    var environment = StoreEnvironment(now: { 0 }, random: { 0 })
    if isConcurrent { environment.runConcurrently = { DetachedThread.run($0) } }
    return PageOutput(
      file: StoreFile(file, path: "output"),
      pageSize: UInt64(Self.pageSize),
      environment: environment
    ) { (range) throws(StoreError) in
      try file.startWriteback(of: range)
    }
  }

  /// Appends images, some of several pages, to places in any order; returns the pages.
  private func append(
    imageCount: Int,
    to output: PageOutput,
    _ generator: inout SeededGenerator
  ) throws -> [UInt64: [UInt8]] {
    var pages: [UInt64: [UInt8]] = [:]
    var next: UInt64 = 1
    for _ in 0..<imageCount {
      if generator.number(in: 0...3) == 0 { next = UInt64(generator.number(in: 1...1_000_000)) }
      let image = generator.bytes(Self.pageSize * generator.number(in: 1...2))
      let count = UInt64(image.count / Self.pageSize)
      if (next..<next + count).contains(where: { pages[$0] != nil }) { continue }
      try image.withUnsafeBytes { try output.append($0, at: next) }
      for index in 0..<Int(count) {
        pages[next + UInt64(index)] = [UInt8](image[index * Self.pageSize..<(index + 1) * Self.pageSize])
      }
      next += count
    }
    return pages
  }

  @Test(arguments: [false, true])
  func everyImageIsInTheFile(isConcurrent: Bool) throws {
    var generator = SeededGenerator("everyImageIsInTheFile")
    let file = ObservedFile()
    let output = output(to: file, isConcurrent: isConcurrent)
    let pages = try append(imageCount: 3_000, to: output, &generator)
    try output.finish()
    #expect(!file.isWriting)
    for (number, bytes) in pages {
      var found = [UInt8](repeating: 0, count: Self.pageSize)
      let count = found.withUnsafeMutableBytes { file.read(into: $0, at: number * UInt64(Self.pageSize)) }
      #expect(count == Self.pageSize && found == bytes)
    }
  }

  @Test(arguments: [false, true])
  func aFailureIsThrownAndNothingIsWrittenAfterwards(isConcurrent: Bool) throws {
    var generator = SeededGenerator("aFailureIsThrownAndNothingIsWrittenAfterwards")
    let file = ObservedFile(failingFrom: 40)
    let output = output(to: file, isConcurrent: isConcurrent)
    let error = #expect(throws: StoreError.self) {
      _ = try append(imageCount: 4_000, to: output, &generator)
      try output.finish()
    }
    #expect(error?.code == .inputOutput)
    output.stop()
    let count = file.writeCount
    #expect(!file.isWriting && count == 40)
    usleep(20_000)
    #expect(file.writeCount == count)
  }

  @Test(arguments: [false, true])
  func theDeviceBeginsWithEveryBatch(isConcurrent: Bool) throws {
    let file = ObservedFile()
    let output = output(to: file, isConcurrent: isConcurrent)
    let image = [UInt8](repeating: 1, count: Self.pageSize)
    let numbers = Array(stride(from: 8, to: 8_008, by: 10) as StrideTo<UInt64>)
    for number in numbers { try image.withUnsafeBytes { try output.append($0, at: number) } }
    try output.finish()
    let batchImageCount = StoreEnvironment(now: { 0 }, random: { 0 }).pageBatchByteCount / Self.pageSize
    let expected = stride(from: 0, to: numbers.count, by: batchImageCount).map { start in
      let last = min(start + batchImageCount, numbers.count) - 1
      return numbers[start] * UInt64(Self.pageSize)..<(numbers[last] + 1) * UInt64(Self.pageSize)
    }
    #expect(expected.count == 4 && file.startedRanges == expected)
  }

  @Test func withoutImagesTheDeviceBeginsNothing() throws {
    let file = ObservedFile()
    try output(to: file, isConcurrent: false).finish()
    #expect(file.startedRanges == [])
  }

  @Test(arguments: [false, true])
  func aFailureOfTheDeviceIsThrownAndNothingIsWrittenAfterwards(isConcurrent: Bool) throws {
    var generator = SeededGenerator("aFailureOfTheDeviceIsThrown")
    let file = ObservedFile(failingWriteback: 2)
    let output = output(to: file, isConcurrent: isConcurrent)
    let error = #expect(throws: StoreError.self) {
      _ = try append(imageCount: 4_000, to: output, &generator)
      try output.finish()
    }
    #expect(error?.code == .inputOutput && file.startedRanges.count == 2)
    output.stop()
    let count = file.writeCount
    usleep(20_000)
    #expect(!file.isWriting && file.writeCount == count)
  }

  @Test func stoppingWaitsForTheWriteUnderWay() throws {
    var generator = SeededGenerator("stoppingWaitsForTheWriteUnderWay")
    let file = ObservedFile()
    let output = output(to: file, isConcurrent: true)
    _ = try append(imageCount: 600, to: output, &generator)
    output.stop()
    #expect(!file.isWriting)
    let count = file.writeCount
    usleep(20_000)
    #expect(count > 0 && file.writeCount == count)
  }

  /// The commit fails, and later commits use the pages to which it has written.
  @Test(arguments: 0..<12)
  func aWriteThatFailsBesideACheckpointLeavesNothing(failingWrite: Int) throws {
    let fixture = StoreFixture()
    let store = try fixture.openWithSmallBatches(isConcurrent: true)
    try store.put("a", "1")
    try store.checkpoint()
    // A value of this length makes the commit a checkpoint.
    func fill(_ byte: UInt8) throws {
      try store.write { transaction in
        let tree = try transaction.tree("t")
        for index in 0..<3_000 { try tree.put(bytes("key \(index)"), [UInt8](repeating: byte, count: 20)) }
        try tree.put(bytes("large"), [UInt8](repeating: byte, count: 70_000))
      }
    }
    fixture.disk.inject(DiskFault(.write, at: failingWrite, .error(EIO)))
    #expect(throws: StoreError.self) { try fill(1) }
    #expect(try store.value("a") == "1" && store.value("large") == nil)
    for byte in 2...4 as ClosedRange<UInt8> { try fill(byte) }
    #expect(try store.verify() == [])
    try store.close()
    let reopened = try fixture.reopened(powerFailed: true)
    #expect(try reopened.verify() == [])
    let value = try reopened.snapshot().tree("t").value(for: bytes("large"))
    #expect(value == [UInt8](repeating: 4, count: 70_000))
  }
}
