/// Reads a store's file as bytes, without recovering it: for tools that show its contents, damaged or not.
///
/// Holds the shared lock of the file as long as it exists. It doesn't trust the bytes, and reports what isn't
/// legible.
package final class FileInspector {
  private let file: StoreFile
  private let blocks: FixedBlocks
  private let posixFile: PosixFile

  /// Opens the file for reading. Throws `storeInUse`, `notAStore`, `unsupportedFormat`, `inputOutput`.
  package init(path: String) throws(StoreError) {
    posixFile = try PosixFile.open(path: path, isReadOnly: true, createsIfMissing: false)
    file = StoreFile(posixFile, path: path)
    do throws(StoreError) {
      try FileLock.acquire(posixFile, path: path, isExclusive: false)
      guard case .store(let blocks) = try FixedBlocks.read(file) else {
        throw StoreError(
          .notAStore,
          "the file is not a store: it does not begin like one",
          context: .init(path: path)
        )
      }
      try blocks.identity.checkSupported(forWriting: false)
      self.blocks = blocks
    } catch {
      posixFile.close()
      throw error
    }
  }

  deinit { posixFile.close() }

  /// Bytes in a page.
  package var pageSize: Int { Int(blocks.identity.pageSize) }
  /// Pages in the file; the last one may be incomplete.
  package var pageCount: UInt64 { (blocks.byteCount + UInt64(pageSize) - 1) / UInt64(pageSize) }

  // MARK: Extents

  /// Returns every extent whose header is legible, in order of the file. Bytes between two of them belong to
  /// no extent, or to one whose header isn't legible.
  package func extents() throws(StoreError) -> [ExtentSummary] {
    var extents: [ExtentSummary] = []
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(pageSize))
    var walk = try ExtentWalk(file, blocks.identity, from: first)
    while let found = try walk.next() { extents.append(ExtentSummary(found, pageSize: UInt64(pageSize))) }
    return extents
  }

  // MARK: Pages

  /// Returns the contents of a page, as far as they are legible. Throws `inputOutput` if the file is shorter.
  package func page(_ number: UInt64) throws(StoreError) -> PageSummary {
    guard number < pageCount else {
      throw StoreError(
        .inputOutput,
        "the file has only \(pageCount) pages",
        context: .init(path: file.path, page: number)
      )
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: number * UInt64(pageSize))
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    return PageSummary(UnsafeRawBufferPointer(buffer), number: number)
  }

  // MARK: The log

  /// Returns every complete record of the log that is in the file, oldest use first. Among them are records
  /// that a checkpoint has made superfluous and nothing has overwritten yet.
  package func logRecords() throws(StoreError) -> [LogRecordSummary] {
    var uses: [LogExtentUse] = []
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(pageSize))
    var walk = try ExtentWalk(file, blocks.identity, from: first)
    while let found = try walk.next() {
      if let use = found.use { uses.append(use) }
    }
    var records: [LogRecordSummary] = []
    let budget = LogReadBudget(fileByteCount: blocks.byteCount)
    for use in uses.sorted(by: { $0.epoch < $1.epoch }) {
      try LogExtentImage(use, from: file, budget).forEachRecord(from: use.firstRecordOffset) {
        offset,
        record in
        records.append(LogRecordSummary(record, at: offset, pageSize: UInt64(pageSize)))
      }
    }
    return records
  }
}
