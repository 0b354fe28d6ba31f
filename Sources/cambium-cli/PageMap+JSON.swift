import PageStore

/// The map for programs: every run of the file, none left out.
struct PageMapJSON: Encodable {
  struct Run: Encodable {
    var firstPage: UInt64
    var pageCount: UInt64
    var use: PageMap.Use
  }

  var pageSize: Int
  var pageCount: UInt64
  /// Bytes of each use, by its name.
  var byteCounts: [String: UInt64]
  var runs: [Run]

  init(_ uses: PageUses) {
    pageSize = uses.pageSize
    pageCount = uses.pageCount
    byteCounts = Dictionary(uniqueKeysWithValues: PageMap.Use.allCases.map { ($0.rawValue, 0) })
    runs = []
    for run in uses {
      let use = PageMap.Use(run.use)
      let count = UInt64(run.pages.count)
      byteCounts[use.rawValue, default: 0] += count * UInt64(pageSize)
      if let last = runs.last, last.use == use {
        runs[runs.count - 1].pageCount += count
      } else {
        runs.append(Run(firstPage: run.pages.lowerBound, pageCount: count, use: use))
      }
    }
  }
}
