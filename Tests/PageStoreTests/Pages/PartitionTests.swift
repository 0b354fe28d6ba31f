import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// The division of entries among leaves, compared with an algorithm that tries every length of a page.
struct PartitionTests {
  private let geometry = PageGeometry(pageSize: 4_096)

  private typealias Entry = (key: [UInt8], value: [UInt8])

  /// Sorted entries whose keys share prefixes of several lengths.
  private func entries(using generator: inout SeededGenerator) -> [Entry] {
    let stems = (0...generator.number(in: 0...4)).map { _ in generator.bytes(generator.number(in: 0...60)) }
    var entries: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<generator.number(in: 1...600) {
      let key = generator.pick(stems) + generator.bytes(generator.number(in: 1...20))
      entries[key] = generator.bytes(generator.number(in: 0...120))
    }
    return entries.map { ($0.key, $0.value) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// Bytes of entries in a leaf of their own, from all of their keys.
  private func byteCount(of entries: ArraySlice<Entry>) -> Int {
    let whole = entries.reduce(0) {
      $0 + PageSlot.byteCount + LeafCell.keyOffset + $1.key.count + $1.value.count
    }
    guard entries.count > 1, let first = entries.first?.key else { return whole }
    let shared = (0...first.count).last { count in
      entries.allSatisfy { $0.key.starts(with: first.prefix(count)) }
    }
    let prefix = min(shared ?? 0, geometry.prefixLimit)
    return whole - (entries.count - 1) * prefix
  }

  /// Returns the positions at which pages begin if each is as full as possible.
  private func starts(of entries: [Entry], upTo budget: Int) -> [Int] {
    var starts = [0]
    for end in 2...max(2, entries.count) where end <= entries.count {
      let start = starts[starts.count - 1]
      if end - start > 1, byteCount(of: entries[start..<end]) > budget { starts.append(end - 1) }
    }
    return starts
  }

  @Test func eachLeafIsAsFullAsPossible() {
    let seed = SeededGenerator.seedOfThisRun()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let entries = entries(using: &generator)
      let budget = generator.number(in: 600...geometry.capacity)
      let keys = entries.flatMap(\.key)
      let values = entries.flatMap(\.value)
      keys.withUnsafeBytes { keys in
        values.withUnsafeBytes { values in
          var (keyStart, valueStart) = (0, 0)
          let list = entries.map { entry in
            defer {
              keyStart += entry.key.count
              valueStart += entry.value.count
            }
            return PageEntry(
              key: UnsafeRawBufferPointer(rebasing: keys[keyStart..<keyStart + entry.key.count]),
              payload: UnsafeRawBufferPointer(rebasing: values[valueStart..<valueStart + entry.value.count])
            )
          }
          let found = list.withUnsafeBufferPointer {
            Partition(filling: $0, upTo: budget, geometry: geometry).starts
          }
          let wanted = starts(of: entries, upTo: budget)
          // The last two are of even size.
          #expect(found.dropLast() == wanted.dropLast(), "seed \(seed)")
          for (start, end) in zip(found, found.dropFirst() + [entries.count]) where end - start > 1 {
            #expect(byteCount(of: entries[start..<end]) <= budget, "seed \(seed)")
          }
        }
      }
    }
  }
}
