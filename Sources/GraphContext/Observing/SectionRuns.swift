/// The sections of a list: for each its name and how many objects it has, in the list's order. Neighbours have different names.
///
/// In chunks that know how many objects they have, so that a position is found, and a section added or taken away, in O(√sections). Memory: 24 bytes for a section, and
/// the bytes of a name that is longer than 15.
struct SectionRuns {
  struct Run: Equatable, Sendable {
    let name: String
    var count: Int
  }

  private struct Chunk {
    var runs: [Run]
    var total: Int
  }

  private var chunks: [Chunk] = []
  private(set) var count = 0

  /// A chunk of twice as many sections is divided.
  private static let chunkCount = 512

  /// Adds objects to the last section, if it has the name, or as a section of their own.
  mutating func append(_ name: String, _ objects: Int) {
    if let last = chunks.indices.last, let run = chunks[last].runs.indices.last,
      chunks[last].runs[run].name.isSame(as: name)
    {
      chunks[last].runs[run].count += objects
      chunks[last].total += objects
      return
    }
    if chunks.last.map({ $0.runs.count >= Self.chunkCount }) ?? true {
      chunks.append(Chunk(runs: [], total: 0))
    }
    chunks[chunks.count - 1].runs.append(Run(name: name, count: objects))
    chunks[chunks.count - 1].total += objects
    count += 1
  }

  subscript(section: Int) -> Run {
    let (chunk, run) = place(of: section)
    return chunks[chunk].runs[run]
  }

  /// How many objects come before a section.
  func start(of section: Int) -> Int {
    let (chunk, run) = place(of: section)
    return chunks[..<chunk].reduce(0) { $0 + $1.total }
      + chunks[chunk].runs[..<run].reduce(0) { $0 + $1.count }
  }

  /// The path of the object at a position. One that doesn't exist has that of the end: a damaged index may count what the sections don't.
  func path(of position: Int) -> ListPath {
    var (section, left) = (0, position)
    for chunk in chunks {
      if left >= chunk.total {
        left -= chunk.total
        section += chunk.runs.count
        continue
      }
      for run in chunk.runs {
        if left < run.count { return ListPath(section: section, item: left) }
        left -= run.count
        section += 1
      }
    }
    let last = max(0, count - 1)
    return ListPath(section: last, item: count == 0 ? 0 : self[last].count)
  }

  mutating func change(_ section: Int, by difference: Int) {
    let (chunk, run) = place(of: section)
    let difference = max(difference, -chunks[chunk].runs[run].count)
    chunks[chunk].runs[run].count += difference
    chunks[chunk].total += difference
  }

  mutating func insert(_ run: Run, at section: Int) {
    count += 1
    guard !chunks.isEmpty else {
      chunks = [Chunk(runs: [run], total: run.count)]
      return
    }
    var (chunk, index) =
      section == count - 1 ? (chunks.count - 1, chunks[chunks.count - 1].runs.count) : place(of: section)
    if chunks[chunk].runs.count >= 2 * Self.chunkCount {
      let half = Array(chunks[chunk].runs[Self.chunkCount...])
      let total = half.reduce(0) { $0 + $1.count }
      chunks[chunk].runs.removeLast(half.count)
      chunks[chunk].total -= total
      chunks.insert(Chunk(runs: half, total: total), at: chunk + 1)
      if index > Self.chunkCount { (chunk, index) = (chunk + 1, index - Self.chunkCount) }
    }
    chunks[chunk].runs.insert(run, at: index)
    chunks[chunk].total += run.count
  }

  mutating func remove(_ section: Int) {
    let (chunk, run) = place(of: section)
    chunks[chunk].total -= Int(chunks[chunk].runs[run].count)
    chunks[chunk].runs.remove(at: run)
    if chunks[chunk].runs.isEmpty { chunks.remove(at: chunk) }
    count -= 1
  }

  private func place(of section: Int) -> (chunk: Int, run: Int) {
    var left = section
    for (index, chunk) in chunks.enumerated() {
      if left < chunk.runs.count { return (index, left) }
      left -= chunk.runs.count
    }
    fatalError("a list has no section \(section)")
  }

  /// The sections as a list. O(sections).
  var all: [Run] { chunks.flatMap(\.runs) }

  /// The names of all sections. O(sections).
  var names: [String] { all.map(\.name) }
}

extension String {
  /// Whether the bytes are the same: what sections, like queries, go by.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
