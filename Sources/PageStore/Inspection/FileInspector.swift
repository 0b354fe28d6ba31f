/// Looks at a store's file as bytes, without recovering it: for tools that show what is there, damaged or not.
///
/// Holds the lock that readers share while it lives. Nothing here trusts the bytes: what is not legible is said to be so.
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
  /// Pages in the file, the last one perhaps not whole.
  package var pageCount: UInt64 { (blocks.byteCount + UInt64(pageSize) - 1) / UInt64(pageSize) }

  // MARK: Extents

  /// Every extent whose header is legible, in order of the file. What lies between two belongs to none, or to one that
  /// isn't legible.
  package func extents() throws(StoreError) -> [ExtentSummary] {
    var extents: [ExtentSummary] = []
    let first = FileLayout.firstExtentOffset(pageSize: UInt64(pageSize))
    var walk = try ExtentWalk(file, blocks.identity, from: first)
    while let found = try walk.next() { extents.append(ExtentSummary(found, pageSize: UInt64(pageSize))) }
    return extents
  }

  // MARK: Pages

  /// What is in the page of this number, as far as its bytes make sense. Throws `inputOutput` when the file is shorter.
  package func page(_ number: UInt64) throws(StoreError) -> PageSummary {
    guard number < pageCount else {
      throw StoreError(
        .inputOutput,
        "the file has \(pageCount) pages",
        context: .init(path: file.path, page: number)
      )
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: number * UInt64(pageSize))
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    return PageSummary(UnsafeRawBufferPointer(buffer), number: number, identity: blocks.identity)
  }

  // MARK: The log

  /// Every whole record of the log that is in the file, oldest use first; also those that a checkpoint has made
  /// dispensable and nothing has overwritten yet.
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
