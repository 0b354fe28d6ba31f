import Predicates

/// A sorted list in chunks. A copy shares the chunks that neither of the two changes. Finding a place, and inserting or
/// removing an element there, are O(√elements).
struct SortedChunks<Element> {
  /// The chunks, of which none is empty.
  private var chunks: [[Element]] = []
  private(set) var count = 0

  /// Half the number of elements at which a chunk is divided.
  private static var chunkCount: Int { 256 }

  /// The element at a place, which must exist.
  subscript(place: Int) -> Element {
    let (chunk, index) = home(of: place)
    return chunks[chunk][index]
  }

  /// The elements in their order.
  var elements: some Sequence<Element> { chunks.joined() }

  /// Returns the number of leading elements that meet a condition. The elements after them don't meet it: the list is
  /// sorted.
  func prefixCount(where condition: (Element) -> Bool) -> Int {
    let chunk = chunks.indices.partitionPoint { !condition(chunks[$0][chunks[$0].count - 1]) }
    let before = chunks[..<chunk].reduce(0) { $0 + $1.count }
    if chunk == chunks.count { return before }
    return before + chunks[chunk].indices.partitionPoint { !condition(chunks[chunk][$0]) }
  }

  /// Returns the first place that meets a condition; the number of elements if none does. Each place after the first
  /// one meets it, too.
  func firstPlace(where condition: (_ place: Int) -> Bool) -> Int {
    (0..<count).partitionPoint(where: condition)
  }

  /// Inserts an element at a place from 0 to the number of elements. The caller keeps the order.
  mutating func insert(_ element: Element, at place: Int) {
    if chunks.isEmpty { chunks = [[]] }
    var (chunk, index) = home(of: place)
    if chunks[chunk].count >= 2 * Self.chunkCount {
      let half = Array(chunks[chunk][Self.chunkCount...])
      chunks[chunk].removeLast(half.count)
      chunks.insert(half, at: chunk + 1)
      if index > Self.chunkCount { (chunk, index) = (chunk + 1, index - Self.chunkCount) }
    }
    chunks[chunk].insert(element, at: index)
    count += 1
  }

  /// Removes the element at a place, which must exist.
  mutating func remove(at place: Int) {
    let (chunk, index) = home(of: place)
    chunks[chunk].remove(at: index)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    count -= 1
  }

  /// Returns the chunk of a place, and the place in it. The place behind the last element is in the last chunk.
  private func home(of place: Int) -> (chunk: Int, index: Int) {
    var (chunk, index) = (0, place)
    while chunk + 1 < chunks.count, index >= chunks[chunk].count {
      index -= chunks[chunk].count
      chunk += 1
    }
    return (chunk, index)
  }
}
