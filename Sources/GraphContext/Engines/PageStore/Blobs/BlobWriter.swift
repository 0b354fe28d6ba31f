import Foundation
import PageStore
import Predicates

/// Stores a value that comes in pieces, in commits of bounded size. The value is staged until a save refers to it.
struct BlobWriter: Sendable {
  private let engine: PageStoreEngine
  private let treeName: String
  private let attribute: ContextError.Context
  /// The bytes that the value may have.
  private let limit: Int
  /// The check of a text; nil for a value that is no text.
  private var text: UTF8Check?
  private var hasher = BlobHash.Stream()
  private var byteCount = 0
  /// Bytes that are not stored yet.
  private var pending = Data()
  private var partCount = 0
  /// The commit that has stored the first part.
  private var commit: UInt64?

  /// The number of bytes that a commit stores: about 1 MiB.
  static let commitByteCount = 16 * BlobKey.partByteCount

  /// - Parameter limit: the bytes that the value may have.
  init(
    _ engine: PageStoreEngine,
    _ entity: StoredEntity,
    slot: Int,
    limit: Int = StoreLimits.valueByteCount
  ) {
    self.engine = engine
    self.limit = limit
    treeName = entity.blobTreeName(at: slot)
    let property = entity.schema.stored[slot]
    attribute = .init(entity: entity.name, properties: [property.name])
    text = property.kind.inline == .string ? UTF8Check() : nil
  }

  /// True if the pending bytes are enough for a commit.
  var isFull: Bool { pending.count >= Self.commitByteCount }

  /// - Throws: `wrongValue` for bytes beyond the limit, and for a text that isn't UTF-8.
  mutating func append(_ piece: Data) throws(ContextError) {
    guard piece.count <= limit - byteCount else {
      throw wrongValue("a value longer than the limit of \(limit) bytes")
    }
    if text?.accepts(piece) == false { throw noText }
    piece.withUnsafeBytes { hasher.update($0) }
    byteCount += piece.count
    pending.append(piece)
  }

  private var noText: ContextError { wrongValue("bytes that aren't UTF-8") }

  private func wrongValue(_ what: String) -> ContextError {
    let name = "\(attribute.entity ?? "").\(attribute.properties[0])"
    return ContextError(.wrongValue, "\(name) is given \(what)", context: attribute)
  }

  /// Stores the pending bytes that make whole parts. These commits are not synced. The later commit that refers to
  /// the value is synced, and syncs them, too.
  mutating func storeParts(includingLast: Bool = false) throws {
    let size = BlobKey.partByteCount
    let count = includingLast ? (pending.count + size - 1) / size : pending.count / size
    if count == 0 { return }
    let (first, known, bytes) = (partCount, commit, pending)
    commit = try engine.store.write(durability: .relaxed) { transaction in
      try engine.checkWritable()
      let commit = known ?? transaction.commit
      if known == nil { try transaction.tree(SchemaTree.name).put(StagedBlobs.key(commit, in: treeName), []) }
      let tree = try transaction.tree(treeName)
      for part in 0..<count {
        let piece = bytes.dropFirst(part * size).prefix(size)
        try tree.put(BlobKey.key(commit, StagedBlobs.ordinal, part: first + part), [UInt8](piece))
      }
      return commit
    }
    partCount += count
    pending = Data(pending.dropFirst(count * size))
  }

  /// Stores the rest, if anything is stored yet.
  mutating func finish() throws -> NewBlob {
    if text?.isComplete == false { throw noText }
    if commit == nil {
      return .value(text == nil ? .data(pending) : .string(String(decoding: pending, as: UTF8.self)))
    }
    try storeParts(includingLast: true)
    return .reference(
      ExternalReference(
        commit: commit ?? 0,
        ordinal: StagedBlobs.ordinal,
        byteCount: byteCount,
        hash: hasher.hash
      )
    )
  }

  /// Removes the parts that are stored, because no save will refer to them.
  func discard() throws {
    guard let commit else { return }
    try engine.store.write(durability: .relaxed) { transaction in
      try StagedBlobs.remove(StagedBlobs.key(commit, in: treeName), &transaction)
    }
  }
}
