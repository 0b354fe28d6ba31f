/// Pages and buffers in memory that were taken out of reach (*retired*), and that a reader may still be
/// reading: no new reader can find them.
struct RetiredPages<Element> {
  private struct Entry {
    var element: Element
    var address: UInt
    var epoch: UInt64
  }

  private var entries: [Entry] = []
  /// The number of entries at which looking at the readers again is worth its cost.
  private var sweepCount: Int
  private let batchCount: Int

  /// - Parameter batchCount: how many entries to gather before looking at the readers.
  init(batchCount: Int) {
    self.batchCount = batchCount
    sweepCount = batchCount
  }

  var count: Int { entries.count }

  /// Adds a page or buffer that was just taken out of reach.
  mutating func insert(_ element: Element, at address: UnsafeRawPointer, _ readers: ReaderTable) {
    entries.append(Entry(element: element, address: UInt(bitPattern: address), epoch: readers.endEpoch()))
  }

  /// Removes and returns the elements that no reader uses any more. Returns nothing while there are too few
  /// entries for a look at the readers.
  ///
  /// - Parameter regardless: whether to look at the readers however few entries there are.
  mutating func sweep(_ readers: ReaderTable, regardless: Bool = false) -> [Element] {
    guard regardless ? !entries.isEmpty : entries.count >= sweepCount else { return [] }
    let protection = readers.protection()
    var freed: [Element] = []
    entries.removeAll { entry in
      guard protection.allowsReuse(of: entry.address, retiredIn: entry.epoch) else { return false }
      freed.append(entry.element)
      return true
    }
    sweepCount = entries.count + max(batchCount, entries.count / 2)
    return freed
  }

  /// Removes the entries that meet a condition.
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    entries.removeAll { isUnwanted($0.element) }
  }

  /// All elements, for a table without readers.
  var all: [Element] { entries.map(\.element) }
}
