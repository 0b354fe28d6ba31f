import PageStore

/// The file as cells of equally many pages, for a drawing of a file of any size.
///
/// A cell has the use that most of its pages have; of uses with equally many pages the one that comes first in
/// ``Use``. It is *whole* if all of its pages have that use.
struct PageMap {
  /// The uses that the tool distinguishes. A store that is open for reading has no reserved pages: they are shown
  /// as free.
  enum Use: String, CaseIterable, Encodable {
    case live, dead, pinned, log, free, headers

    init(_ use: PageUse) {
      switch use {
      case .live: self = .live
      case .dead: self = .dead
      case .pinned: self = .pinned
      case .log: self = .log
      case .reserved, .free: self = .free
      case .headers: self = .headers
      }
    }

    var meaning: String {
      switch self {
      case .live: "the newest commit reaches them"
      case .dead: "only the last two checkpoints reach them"
      case .pinned: "only snapshots reach them"
      case .log: "log extents, in use or free"
      case .free: "to be written over"
      case .headers: "the file's header, the anchors, headers of extents"
      }
    }
  }

  struct Cell: Hashable {
    var use: Use
    var isWhole: Bool
  }

  /// Cells side by side in a drawing that has the room.
  static let columnCount = 64

  /// Cells side by side in this drawing.
  let columnCount: Int
  let pageSize: Int
  let pageCount: UInt64
  /// Pages of each use that the file has any of, in order.
  let totals: [(use: Use, pageCount: UInt64)]
  /// A power of two: the least with which the rows suffice. The last cell may have fewer.
  let pagesPerCell: UInt64
  /// In order of the file.
  let cells: [Cell]

  /// - Parameters:
  ///   - rowCount: the most rows of cells that the drawing may have.
  ///   - columnCount: the cells of a row.
  init(_ uses: PageUses, rowCount: Int, columnCount: Int = PageMap.columnCount) {
    self.columnCount = columnCount
    pageSize = uses.pageSize
    pageCount = uses.pageCount
    totals = Self.counts { uses.count(of: $0) }.filter { $0.pageCount > 0 }
    let limit = UInt64(rowCount * columnCount)
    var size: UInt64 = 1
    while (uses.pageCount + size - 1) / size > limit { size *= 2 }
    pagesPerCell = size
    cells = stride(from: 0, to: uses.pageCount, by: Int(size)).map { first in
      Self.cell(of: first..<min(first + size, uses.pageCount), in: uses)
    }
  }

  private static func cell(of pages: Range<UInt64>, in uses: PageUses) -> Cell {
    var largest = (use: Use.live, pageCount: UInt64(0))
    for count in counts({ uses.count(of: $0, in: pages) }) where count.pageCount > largest.pageCount {
      largest = count
    }
    return Cell(use: largest.use, isWhole: largest.pageCount == UInt64(pages.count))
  }

  private static func counts(_ count: (PageUse) -> UInt64) -> [(use: Use, pageCount: UInt64)] {
    Use.allCases.map { use in
      (use, PageUse.allCases.reduce(0) { Use($1) == use ? $0 + count($1) : $0 })
    }
  }

  // MARK: Words

  func bytes(_ pageCount: UInt64) -> String { StoreInfo.bytes(Int(pageCount) * pageSize) }

  /// A use's part of the file, such as `46 %`.
  func share(_ pageCount: UInt64) -> String {
    let percent = Int((100 * Double(pageCount) / Double(self.pageCount)).rounded())
    return percent == 0 ? "< 1 %" : "\(percent) %"
  }

  /// The file's size in words.
  var size: String { "\(bytes(pageCount)) in \(Self.pages(pageCount)) of \(StoreInfo.bytes(pageSize))" }

  static func pages(_ count: UInt64) -> String { "\(count) \(count == 1 ? "page" : "pages")" }
}
