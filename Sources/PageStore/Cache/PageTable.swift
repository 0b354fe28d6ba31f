/// Where each page of the file is in memory, by number. Lookups take no lock.
///
/// A word is the address of the page's frame. Its lowest bit, which addresses of pages don't need, says whether anybody looked
/// the page up since eviction came by last; it is written only when it isn't set, so that readers of the same page don't
/// take its cache line from each other.
struct PageTable {
  private let words = AtomicTable()

  private static let usedBit: UInt = 1

  /// Page numbers are below this.
  static let count = AtomicTable.count

  /// The page's bytes, or nil if they aren't in memory. They stay as ``ReaderTable`` says.
  @inline(__always)
  func lookUp(_ number: UInt64) -> UnsafeRawPointer? {
    let word = words.load(number)
    if word & Self.usedBit == 0 {
      if word == 0 { return nil }
      words.replace(word, by: word | Self.usedBit, at: number)
    }
    return UnsafeRawPointer(bitPattern: word & ~Self.usedBit)
  }

  /// Makes a page findable. Returns false, and changes nothing, if there is one of this number already.
  func publish(_ page: UnsafeRawPointer, number: UInt64) -> Bool {
    words.publish(UInt(bitPattern: page), at: number)
  }

  /// Whether the page was looked up since the last call.
  func takeUsed(_ number: UInt64) -> Bool {
    let word = words.load(number)
    guard word & Self.usedBit != 0 else { return false }
    words.replace(word, by: word & ~Self.usedBit, at: number)
    return true
  }

  /// From now on nobody finds the page.
  func remove(_ number: UInt64) { words.exchange(0, at: number) }

  /// Gives the table's own memory back. Only when nobody else uses it.
  func deallocate() { words.deallocate() }
}
