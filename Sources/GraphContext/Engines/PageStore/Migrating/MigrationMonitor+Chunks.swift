import PageStore

extension MigrationMonitor {
  private static let largestChunkByteCount = 16 << 20

  /// Returns the approximate number of bytes of keys and records that one commit of the change holds.
  func chunkByteCount(in store: Store) -> Int {
    chunkByteCount ?? max(1 << 20, min(Self.largestChunkByteCount, store.options.dirtyMemoryBytes / 4))
  }
}
