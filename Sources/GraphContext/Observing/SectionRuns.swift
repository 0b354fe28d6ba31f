/// The sections of a list: the name of each and the number of its objects, in the list's order. Neighbours have
/// different names.
///
/// Sections are kept in chunks that know how many objects they have. So finding a position, adding a section and
/// removing one take O(√sections). Memory: 24 bytes for a section, and the bytes of a name that is longer than 15. A
/// chunk that isn't held takes 24 bytes: it knows how many sections it has, and is read again when one of them is
/// needed.
///
/// Sections that are read or changed must be held. But the wrong counts of a damaged index may lead to a section that
/// isn't held: it has no objects then, and doesn't change.
struct SectionRuns {
  struct Run: Equatable, Sendable {
    let name: String
    var count: Int
  }

  private struct Chunk {
    var runs: [Run]
    /// The number of sections, held or not.
    var count: Int
    /// The number of their objects.
    var total: Int

    init(_ runs: [Run]) {
      (self.runs, count) = (runs, runs.count)
      total = runs.reduce(0) { $0 + $1.count }
    }

    var isHeld: Bool { runs.count == count }
  }

  private var chunks: [Chunk] = []
  /// The number of sections.
  private(set) var count = 0
  /// The number of their objects.
  private(set) var total = 0
  private(set) var heldChunkCount = 0
  var areAllHeld: Bool { heldChunkCount == chunks.count }

  /// The number of sections in a full chunk. A chunk of twice as many sections is divided.
  static let chunkCount = 512

  // MARK: Building

  /// Adds objects to the last section, if it has the name, or as a section of their own. All sections must be held.
  mutating func append(_ name: String, _ objects: Int) {
    total += objects
    if let last = chunks.indices.last, let run = chunks[last].runs.indices.last,
      chunks[last].runs[run].name.isSame(as: name)
    {
      chunks[last].runs[run].count += objects
      chunks[last].total += objects
      return
    }
    if chunks.last.map({ $0.count >= Self.chunkCount }) ?? true {
      chunks.append(Chunk([]))
      heldChunkCount += 1
    }
    chunks[chunks.count - 1].runs.append(Run(name: name, count: objects))
    chunks[chunks.count - 1].count += 1
    chunks[chunks.count - 1].total += objects
    count += 1
  }

  /// Adds sections that follow the last one.
  ///
  /// - Parameter isHeld: whether the sections themselves are kept, and not only their number.
  mutating func append(_ runs: [Run], isHeld: Bool) {
    chunks.append(Chunk(runs))
    count += runs.count
    total += chunks[chunks.count - 1].total
    heldChunkCount += 1
    if !isHeld { release(chunks.count - 1) }
  }

  // MARK: Reading

  subscript(section: Int) -> Run {
    let (chunk, run) = place(of: section)
    return chunks[chunk].isHeld ? chunks[chunk].runs[run] : Run(name: "", count: 0)
  }

  /// Returns how many objects come before a section.
  func start(of section: Int) -> Int {
    let (chunk, run) = place(of: section)
    return start(ofChunk: chunk) + chunks[chunk].runs.prefix(run).reduce(0) { $0 + $1.count }
  }

  /// Returns the path of the object at a position. A position that doesn't exist has the path of the end: a damaged
  /// index may count more objects than the sections have.
  func path(of position: Int) -> ListPath {
    var (section, left) = (0, position)
    for chunk in chunks {
      if left >= chunk.total {
        left -= chunk.total
        section += chunk.count
        continue
      }
      for run in chunk.runs {
        if left < run.count { return ListPath(section: section, item: left) }
        left -= run.count
        section += 1
      }
    }
    return ListPath(section: max(0, count - 1), item: chunks.last?.runs.last?.count ?? 0)
  }

  // MARK: Changing

  /// Counts more or fewer objects in a section.
  mutating func change(_ section: Int, by difference: Int) {
    let (chunk, run) = place(of: section)
    guard chunks[chunk].isHeld else { return }
    let difference = max(difference, -chunks[chunk].runs[run].count)
    chunks[chunk].runs[run].count += difference
    chunks[chunk].total += difference
    total += difference
  }

  /// Adds a section before another one.
  mutating func insert(_ run: Run, at section: Int) {
    count += 1
    total += run.count
    guard !chunks.isEmpty else {
      chunks = [Chunk([run])]
      heldChunkCount = 1
      return
    }
    var (chunk, index) =
      section == count - 1 ? (chunks.count - 1, chunks[chunks.count - 1].count) : place(of: section)
    guard chunks[chunk].isHeld else {
      chunks.insert(Chunk([run]), at: index > 0 ? chunk + 1 : chunk)
      heldChunkCount += 1
      return
    }
    if chunks[chunk].count >= 2 * Self.chunkCount {
      let runs = chunks[chunk].runs
      chunks[chunk] = Chunk(Array(runs[..<Self.chunkCount]))
      chunks.insert(Chunk(Array(runs[Self.chunkCount...])), at: chunk + 1)
      heldChunkCount += 1
      if index > Self.chunkCount { (chunk, index) = (chunk + 1, index - Self.chunkCount) }
    }
    chunks[chunk].runs.insert(run, at: index)
    chunks[chunk].count += 1
    chunks[chunk].total += run.count
  }

  /// Takes a section away.
  mutating func remove(_ section: Int) {
    let (chunk, run) = place(of: section)
    guard chunks[chunk].isHeld else { return }
    let removed = chunks[chunk].runs.remove(at: run)
    chunks[chunk].count -= 1
    chunks[chunk].total -= removed.count
    total -= removed.count
    count -= 1
    if chunks[chunk].count > 0 { return }
    chunks.remove(at: chunk)
    heldChunkCount -= 1
  }

  private func place(of section: Int) -> (chunk: Int, run: Int) {
    var left = section
    for (index, chunk) in chunks.enumerated() {
      if left < chunk.count { return (index, left) }
      left -= chunk.count
    }
    fatalError("a list has no section \(section)")
  }

  /// The sections as a list. All must be held. O(sections).
  var all: [Run] { chunks.flatMap(\.runs) }

  /// The names of all sections, which must be held. O(sections).
  var names: [String] { all.map(\.name) }
}

// MARK: - Chunks

extension SectionRuns {
  /// Sections that are read together.
  struct Part {
    fileprivate let chunk: Int
    let isHeld: Bool
    /// The number of the first section.
    let firstSection: Int
    /// The number of sections.
    let count: Int
    /// The positions of their objects.
    let positions: Range<Int>
  }

  /// Returns the part that a section is read with. The section must exist.
  func part(ofSection section: Int) -> Part {
    let (chunk, run) = place(of: section)
    return part(chunk, firstSection: section - run, start: start(ofChunk: chunk))
  }

  /// Returns the part that the section of a position is read with; nil for a position behind all sections.
  func part(ofPosition position: Int) -> Part? {
    var (section, start) = (0, 0)
    for (index, chunk) in chunks.enumerated() {
      if position < start + chunk.total { return part(index, firstSection: section, start: start) }
      section += chunk.count
      start += chunk.total
    }
    return nil
  }

  /// The parts of all sections.
  var parts: [Part] {
    var (section, start) = (0, 0)
    return chunks.indices.map { chunk in
      defer { (section, start) = (section + chunks[chunk].count, start + chunks[chunk].total) }
      return part(chunk, firstSection: section, start: start)
    }
  }

  private func part(_ chunk: Int, firstSection: Int, start: Int) -> Part {
    Part(
      chunk: chunk,
      isHeld: chunks[chunk].isHeld,
      firstSection: firstSection,
      count: chunks[chunk].count,
      positions: start..<start + chunks[chunk].total
    )
  }

  private func start(ofChunk chunk: Int) -> Int { chunks[..<chunk].reduce(0) { $0 + $1.total } }

  /// Keeps the sections of a part. Their number, and that of their objects, must be those of the part.
  mutating func hold(_ part: Part, _ runs: [Run]) {
    if chunks[part.chunk].isHeld { return }
    chunks[part.chunk].runs = runs
    heldChunkCount += 1
  }

  /// Keeps only the numbers of sections and objects of all parts.
  mutating func releaseAll() {
    for chunk in chunks.indices { release(chunk) }
  }

  private mutating func release(_ chunk: Int) {
    if !chunks[chunk].isHeld || chunks[chunk].count == 0 { return }
    chunks[chunk].runs = []
    heldChunkCount -= 1
  }

  /// Bytes of memory. O(sections that are held).
  var byteCount: Int {
    let runs = chunks.reduce(0) { total, chunk in
      chunk.runs.reduce(total) { $0 + MemoryLayout<Run>.stride + $1.name.ownByteCount }
    }
    return runs + chunks.count * MemoryLayout<Chunk>.stride
  }
}

extension String {
  /// The bytes outside of the value itself, which has room for 15: an object with a head of 32 bytes, the text and a
  /// zero, in steps of 16.
  fileprivate var ownByteCount: Int {
    let count = utf8.count
    return count > 15 ? 32 + (count + 1 + 15) / 16 * 16 : 0
  }

  /// Returns whether the bytes are the same. Sections compare names in this way, as queries do.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
