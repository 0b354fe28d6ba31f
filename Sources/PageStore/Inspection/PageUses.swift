/// The use of a page of the file: the account of ``SpaceLedger`` that it is in.
public enum PageUse: String, Sendable, Hashable, CaseIterable {
  /// The newest commit reaches the page.
  case live
  /// No version reaches the page any more, but the last checkpoint or the one before it does.
  case dead
  /// Only snapshots reach the page.
  case pinned
  /// The page is in a log extent, in use or free.
  case log
  /// A checkpoint or a cut of the file has taken the page, or the next checkpoint will: free pages are taken
  /// lowest first, and ``SpaceLedger/reservedBytes`` says how many are kept.
  case reserved
  /// The page is free.
  case free
  /// The page has the file's header and anchors, or the header of a page extent.
  case headers
}

/// The uses of all pages of a store's file at one moment: a sequence of runs in order of the file, without a
/// gap.
///
/// It takes one bit a page for each use, however many runs there are: 112 KiB for a file of a gigabyte in
/// pages of 8 KiB. A step of the iteration is O(length of the run / 64).
public struct PageUses: Sendable, Sequence {
  /// Adjacent pages that have the same use.
  public struct Run: Sendable, Hashable {
    /// Page numbers; never empty.
    public var pages: Range<UInt64>
    /// The use of all these pages.
    public var use: PageUse
  }

  /// Bytes in a page.
  public let pageSize: Int
  /// Pages of the file, up to the end of its last extent.
  public let pageCount: UInt64
  /// The pages of each use, in the order of `PageUse.allCases`. Each page below `pageCount` is in exactly one
  /// of them.
  private let bitmaps: [PageBitmap]

  /// - Parameter pages: the pages of each use; each page below `pageCount` is in exactly one set.
  init(pageSize: Int, pageCount: UInt64, pages: [PageUse: PageBitmap]) {
    self.pageSize = pageSize
    self.pageCount = pageCount
    bitmaps = PageUse.allCases.map { pages[$0] ?? PageBitmap() }
  }

  /// Returns the number of pages of one use. O(1).
  public func count(of use: PageUse) -> UInt64 { bitmap(of: use).count }

  /// Returns the number of pages of one use among `pages`. O(pages / 64).
  public func count(of use: PageUse, in pages: Range<UInt64>) -> UInt64 { bitmap(of: use).count(in: pages) }

  private func bitmap(of use: PageUse) -> PageBitmap {
    zip(PageUse.allCases, bitmaps).first { $0.0 == use }?.1 ?? PageBitmap()
  }

  /// Returns an iterator that begins at the first page of the file.
  public func makeIterator() -> Iterator { Iterator(bitmaps: bitmaps) }

  /// Iterates over the runs.
  public struct Iterator: IteratorProtocol {
    fileprivate let bitmaps: [PageBitmap]
    private var page: UInt64 = 0

    fileprivate init(bitmaps: [PageBitmap]) { self.bitmaps = bitmaps }

    /// Returns the next run, or nil after the last page. O(length of the run / 64).
    public mutating func next() -> Run? {
      for (use, bitmap) in zip(PageUse.allCases, bitmaps) where bitmap.contains(page) {
        let pages = bitmap.run(from: page)
        page = pages.upperBound
        return Run(pages: pages, use: use)
      }
      return nil
    }
  }
}

extension Store {
  /// Returns the use of each page of the file at this moment. The bytes of each use are those of
  /// ``spaceLedger()`` at the same moment.
  ///
  /// Snapshots can be read meanwhile; commits wait. Works on a store that was opened for reading only, too,
  /// where no page is pinned. O(pages of the file / 64 + pages that died and aren't free yet), and reads 4
  /// KiB of each extent.
  ///
  /// Throws `closed`, `inputOutput`, and `corrupt` if the headers of the extents, or the record of pages in
  /// use, contradict the sizes of the trees: `verify()` tells more.
  public func pageUses() throws(StoreError) -> PageUses {
    try checkOpen()
    return try committer.state.withLock { () throws(StoreError) in try committer.pageUses() }
  }
}
