import PageStore

/// A snapshot that is kept for long, and some of the values that it showed when it was taken.
struct DayReader {
  /// The hour at which it is released.
  let end: Double
  private let snapshot: Snapshot
  private let probes: [(position: Int, key: [UInt8], value: [UInt8])]

  init(_ snapshot: Snapshot, end: Double) throws {
    let tree = try snapshot.tree("notes")
    self.snapshot = snapshot
    self.end = end
    probes = try stride(from: 0, to: tree.count, by: max(1, tree.count / 50)).compactMap { position in
      try tree.entry(at: position).map { (position, $0.key, $0.value) }
    }
  }

  /// Throws if the snapshot doesn't show its first values.
  func check() throws {
    let tree = try snapshot.tree("notes")
    for probe in probes {
      let entry = try tree.entry(at: probe.position)
      guard entry?.key == probe.key, entry?.value == probe.value else {
        throw DayFailure("a snapshot of commit \(snapshot.commit) has changed")
      }
    }
  }
}
