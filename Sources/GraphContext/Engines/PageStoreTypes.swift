import PageStore

// The types of PageStore that the API of contexts and containers has, and its hash. The folders beside that of the
// engine know PageStore by these alone.

/// A failure of a store: see `PageStore.StoreError`.
public typealias StoreError = PageStore.StoreError

/// When a commit counts as done: see `PageStore.Durability`.
public typealias Durability = PageStore.Durability

/// The hash of a value's bytes.
enum BlobHash {
  /// The hash of bytes that come in pieces.
  typealias Stream = XXH64.Stream

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH64.hash(bytes) }
}
