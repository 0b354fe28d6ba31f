/// The pages to which the frames, or the overflow buffers, of the trees in memory were written: by frame or
/// buffer number.
///
/// Checkpoints read it, and so do readers of evicted frames and buffers, without a lock. Entries are set with
/// ``Committer/state`` held, and cleared when no version refers to the frame any more.
struct StoredPlaces {
  /// Two words for each: the page number, which is stored last and read first, and the checksum.
  private let words: AtomicTable

  /// - Parameter memory: the mapping of which the table takes ``AtomicTable/mappedByteCount`` bytes.
  init(in memory: SharedMapping = SharedMapping(byteCount: AtomicTable.mappedByteCount)) {
    words = AtomicTable(in: memory)
  }

  subscript(index: UInt64) -> StoredPlace {
    let number = words.load(2 * index)
    if number == 0 { return .none }
    return StoredPlace(number: UInt64(number), checksum: UInt64(words.load(2 * index + 1)))
  }

  func isStored(_ index: UInt64) -> Bool { words.load(2 * index) != 0 }

  func set(_ place: StoredPlace, at index: UInt64) {
    words.exchange(UInt(place.checksum), at: 2 * index + 1)
    words.exchange(UInt(place.number), at: 2 * index)
  }

  func clear(_ index: UInt64) {
    if isStored(index) { words.exchange(0, at: 2 * index) }
  }

  /// Frees the table's own memory. Only when no other thread uses it.
  func deallocate() { words.deallocate() }
}
