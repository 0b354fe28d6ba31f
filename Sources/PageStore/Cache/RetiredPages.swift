/// Memory that nobody can find any more, and that some reader may still be reading.
struct RetiredPages<Element> {
  private struct Entry {
    var element: Element
    var address: UInt
    var epoch: UInt64
  }

  private var entries: [Entry] = []
  /// How many there must be for another look at the readers to be worth it.
  private var sweepCount: Int
  private let batchCount: Int

  /// - Parameter batchCount: how many entries to gather before looking.
  init(batchCount: Int) {
    self.batchCount = batchCount
    sweepCount = batchCount
  }

  var count: Int { entries.count }

  /// Adds what was just taken out of reach.
  mutating func insert(_ element: Element, at address: UnsafeRawPointer, _ readers: ReaderTable) {
    entries.append(Entry(element: element, address: UInt(bitPattern: address), epoch: readers.endEpoch()))
  }

  /// What nobody reads any more, once there are enough entries to look.
  mutating func sweep(_ readers: ReaderTable) -> [Element] {
    guard entries.count >= sweepCount else { return [] }
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

  /// Takes out the entries that meet a condition.
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    entries.removeAll { isUnwanted($0.element) }
  }

  /// Everything, when there are no readers any more.
  var all: [Element] { entries.map(\.element) }
}
