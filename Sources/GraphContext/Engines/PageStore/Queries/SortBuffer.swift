import Predicates

/// Sorts rows by encoded keys, and keeps only as many as are wanted.
///
/// A row's key is a ``SortKey``. With a limit of *k*, rows beyond the *k* best so far are rejected by one
/// comparison, and the rest is cut back to *k* whenever it has doubled: *n* rows cost O(*n* + accepted · log *k*),
/// and the memory of 2 *k*.
struct SortBuffer {
  private struct Entry {
    var start: Int
    var count: Int
    var row: QueryRow
  }

  private let keys: [ResolvedSort]
  private let fields: [RowField]
  private let isIDAscending: Bool
  private let wanted: Int?
  private let keep: QueryRow.Keep?
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// The key of the last row that is good enough, once there are as many rows as wanted.
  private var worst: [UInt8]?
  private var key = SortKey()

  /// - Parameters:
  ///   - fields: the positions of the keys' values, one for each.
  ///   - wanted: how many of the first rows will be asked for; nil for all.
  ///   - keep: returns what an accepted row has in place of its record; nil if rows have no records.
  init(
    _ keys: [ResolvedSort],
    _ fields: [RowField],
    isIDAscending: Bool,
    wanted: Int?,
    keep: QueryRow.Keep?
  ) {
    self.keep = keep
    self.keys = keys
    self.fields = fields
    self.isIDAscending = isIDAscending
    self.wanted = wanted
  }

  /// Adds the row that the reader has begun.
  mutating func insert(_ row: QueryRow, _ reader: inout RowReader) throws {
    key.removeAll()
    for (sort, field) in zip(keys, fields) {
      key.append(try reader.value(of: field), isAscending: sort.isAscending)
    }
    insert(row)
  }

  /// Adds a row that is sorted by its number alone.
  mutating func insert(number: ObjectNumber) {
    key.removeAll()
    insert(QueryRow(number: number, record: nil))
  }

  private mutating func insert(_ row: QueryRow) {
    key.append(row.number, isAscending: isIDAscending)
    if wanted == 0 { return }
    if let worst, !key.bytes.precedes(worst) { return }
    let kept = row.kept(keep)
    entries.append(Entry(start: bytes.count, count: key.bytes.count, row: kept))
    bytes += key.bytes
    if let wanted, entries.count / 2 >= max(wanted, 512) { cut(to: wanted) }
  }

  /// Returns the wanted rows, in order.
  mutating func finish() -> [QueryRow] {
    sort()
    return (wanted.map { entries.prefix($0) } ?? entries[...]).map(\.row)
  }

  private mutating func sort() {
    bytes.withUnsafeBytes { bytes in
      entries.sort { a, b in
        ByteComparison.order(
          UnsafeRawBufferPointer(rebasing: bytes[a.start..<a.start + a.count]),
          UnsafeRawBufferPointer(rebasing: bytes[b.start..<b.start + b.count])
        ) < 0
      }
    }
  }

  private mutating func cut(to wanted: Int) {
    sort()
    entries.removeLast(entries.count - wanted)
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    for place in entries.indices {
      let entry = entries[place]
      entries[place].start = kept.count
      kept += bytes[entry.start..<entry.start + entry.count]
    }
    bytes = kept
    if let last = entries.last { worst = Array(bytes[last.start..<last.start + last.count]) }
  }
}

extension [UInt8] {
  fileprivate func precedes(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { a in other.withUnsafeBytes { b in ByteComparison.order(a, b) < 0 } }
  }
}
