/// The addresses in memory of pages of the file, by page number. Lookups take no lock.
///
/// A word is the address of the page's frame. Its lowest bit, which page addresses don't need, says whether
/// the page was looked up since eviction last cleared the bit. The bit is written only if it isn't set, so
/// that readers of one page don't contend for its cache line.
struct PageTable {
  private let words: AtomicTable

  private static let usedBit: UInt = 1

  /// Page numbers are below this.
  static let count = AtomicTable.count

  /// - Parameter memory: the mapping of which the table takes ``AtomicTable/mappedByteCount`` bytes.
  init(in memory: SharedMapping = SharedMapping(byteCount: AtomicTable.mappedByteCount)) {
    words = AtomicTable(in: memory)
  }

  /// Returns the page's bytes, or nil if they aren't in memory. ``ReaderTable`` says how long they stay.
  @inline(__always)
  func lookUp(_ number: UInt64) -> UnsafeRawPointer? {
    let word = words.load(number)
    if word & Self.usedBit == 0 {
      if word == 0 { return nil }
      words.replace(word, by: word | Self.usedBit, at: number)
    }
    return UnsafeRawPointer(bitPattern: word & ~Self.usedBit)
  }

  /// Publishes a page. Returns false, and changes nothing, if there is a page of this number already.
  func publish(_ page: UnsafeRawPointer, number: UInt64) -> Bool {
    words.publish(UInt(bitPattern: page), at: number)
  }

  /// Returns whether the page was looked up since the last call, and clears the bit.
  func takeUsed(_ number: UInt64) -> Bool {
    let word = words.load(number)
    guard word & Self.usedBit != 0 else { return false }
    words.replace(word, by: word & ~Self.usedBit, at: number)
    return true
  }

  /// Removes a page: later lookups don't find it.
  func remove(_ number: UInt64) { words.exchange(0, at: number) }

  /// Frees the table's own memory. Only when no other thread uses it.
  func deallocate() { words.deallocate() }
}
