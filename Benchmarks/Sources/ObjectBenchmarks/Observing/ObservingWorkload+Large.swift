import Cambium

/// Large amounts of work for a list at once: a batch of many objects, and as many sections as objects.
extension ObservingWorkload {
  struct BatchResult: Codable, Sendable {
    var list: String
    var objects: Int
    /// The number of objects inserted in one batch.
    var changes: Int
    /// The time from the return of the batch to the difference.
    var seconds: Double
  }

  struct SectionResult: Codable, Sendable {
    var sections: Int
    /// The time to make a list, then to find its first object by section, then to count all sections, and then to find the last object.
    var makingSeconds: Double
    var firstSeconds: Double
    var countSeconds: Double
    var lastSeconds: Double
    /// The bytes that the list reports to hold at the end.
    var heldBytes: Int
  }

  /// Inserts ever larger batches of objects among those of a list.
  func batchResults() async throws -> [BatchResult] {
    let view = container.viewContext
    try view.refresh()
    let lists = try [
      ("Cambium, by rank", FetchedResults(From<Entry>().orderBy(\.minute), in: view)),
      ("Cambium, by numbers", FetchedResults(From<Entry>().orderBy(\.label), in: view)),
    ]
    var results: [BatchResult] = []
    for share in [1_000, 100, 10, 1] {
      let count = objects / share
      try await container.batchInsert(EntryRows(count: count), chunkSize: count)
      for list in lists.map(\.1) { list.pause() }
      try view.refresh()
      for (name, list) in lists { results.append(try await result(name, list, count)) }
    }
    return results
  }

  private func result(
    _ name: String,
    _ list: FetchedResults<Entry>,
    _ count: Int
  ) async throws -> BatchResult {
    try list.resume()
    defer { list.pause() }
    var told = 0
    let subscription = list.onChange { told = $0.changes.count }
    try await container.batchInsert(EntryRows(count: count), chunkSize: count)
    let start = ContinuousClock.now
    try container.viewContext.refresh()
    let end = ContinuousClock.now
    guard told == count else { throw ObservingError.difference(told, of: count) }
    withExtendedLifetime(subscription) {}
    return BatchResult(list: name, objects: list.count, changes: count, seconds: (end - start).inSeconds)
  }

  func sectionResult() throws -> SectionResult {
    let view = container.viewContext
    try view.refresh()
    let request = From<Entry>().orderBy(\.minute)
    let clock = ContinuousClock()
    let start = clock.now
    let list = try FetchedResults(request, sectionedBy: SectionedBy(\.minute), in: view)
    let made = clock.now
    _ = try list.objectIDs(at: 0..<1).first.map { _ in list.path(at: 0) }
    let first = clock.now
    let count = list.sections.count
    let counted = clock.now
    _ = list.sections[count - 1].range
    let last = clock.now
    return SectionResult(
      sections: count,
      makingSeconds: (made - start).inSeconds,
      firstSeconds: (first - made).inSeconds,
      countSeconds: (counted - first).inSeconds,
      lastSeconds: (last - counted).inSeconds,
      heldBytes: list.byteCount
    )
  }
}

private enum ObservingError: Error {
  case difference(Int, of: Int)
}
