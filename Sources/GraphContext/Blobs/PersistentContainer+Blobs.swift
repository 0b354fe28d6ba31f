import Foundation
import Predicates

extension PersistentContainer {
  /// Sets an attribute that is stored externally, of a stored object, to bytes that come in chunks: not all of them are
  /// in memory at any time.
  ///
  /// ```swift
  /// try await container.setBlob(\Album.cover, of: id, from: download.chunks)
  /// ```
  ///
  /// Chunks are stored in commits of about 1 MiB, which are not synced, while other tasks read and save. A last
  /// commit gives the object its value, in the newest state of the store, so it conflicts with nothing. Contexts
  /// are notified of it as of a save of another context. No hook is called. If the object has an equal value already,
  /// there is no last commit. If the chunks end with an error, the task is cancelled meanwhile, or the process ends
  /// before the value has been set, the object keeps its old value. The stored chunks are removed, at the latest when
  /// the store is opened for writing again.
  ///
  /// - Parameters:
  ///   - attribute: an attribute of the model itself, without rules.
  ///   - id: the object.
  ///   - chunks: the bytes, in pieces of any size.
  ///   - durability: when the change counts as done, if not as the container's options say.
  ///   - author: whose change it is, for the history.
  /// - Throws: what `chunks` throws; `objectNotFound` if there is no such object, or it was deleted meanwhile;
  ///   `invalidQuery` for any other attribute; `wrongValue` for more than 4,294,967,295 bytes; `cancelled` when the
  ///   task is cancelled before all chunks are there; `store` when something can't be written.
  public func setBlob<Root: ManagedObject, Value: AttributeType, Chunks: AsyncSequence & Sendable>(
    _ attribute: KeyPath<Root, Value>,
    of id: ManagedObjectID,
    from chunks: Chunks,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws where Value._Present == Data, Chunks.Element == Data {
    try await setValue(attribute, of: id, from: chunks, durability, author)
  }

  /// Sets a text that is stored externally, of a stored object, to its UTF-8, which comes in chunks. A character
  /// may be split between two chunks. Otherwise this works as `setBlob(_:of:from:)` for data.
  ///
  /// - Throws: `wrongValue` for bytes that aren't UTF-8, and what the method for data throws.
  public func setBlob<Root: ManagedObject, Value: AttributeType, Chunks: AsyncSequence & Sendable>(
    _ attribute: KeyPath<Root, Value>,
    of id: ManagedObjectID,
    from chunks: Chunks,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws where Value._Present == String, Chunks.Element == Data {
    try await setValue(attribute, of: id, from: chunks, durability, author)
  }

  private func setValue<Root: ManagedObject, Value: AttributeType, Chunks: AsyncSequence & Sendable>(
    _ attribute: KeyPath<Root, Value>,
    of id: ManagedObjectID,
    from chunks: Chunks,
    _ durability: Durability?,
    _ author: String?
  ) async throws where Chunks.Element == Data {
    let (entity, slot) = try externalSlot(of: attribute)
    try await performBackgroundTask { context in _ = try context.existingObject(Root.self, with: id) }
    var writer = BlobWriter(handle.engine, entity, slot: slot)
    do {
      for try await chunk in chunks {
        // Between the commits for a long chunk, other writers have turns.
        for start in stride(from: 0, to: chunk.count, by: BlobWriter.commitByteCount) {
          try writer.append(chunk.dropFirst(start).prefix(BlobWriter.commitByteCount))
          if writer.isFull { writer = try await onQueue(writer) { try $0.storeParts() } }
        }
        try Self.checkCancellation(entity, slot: slot)
      }
      // A stream of a cancelled task ends early and without an error: its chunks may be a part of the value alone.
      try Self.checkCancellation(entity, slot: slot)
      writer = try await onQueue(writer) { [coordinator] writer in
        let content = try writer.finish()
        let batch = StoreBatch(coordinator, durability, author: author)
        let isNew = try batch.set(content, at: slot, of: id.number, entity)
        if !isNew { try writer.discard() }
      }
    } catch {
      // Parts that can't be removed now are removed when the store is opened again.
      _ = try? await onQueue(writer) { try $0.discard() }
      throw error
    }
  }

  /// Throws `cancelled` if the task that sets a value is cancelled.
  private static func checkCancellation(_ entity: StoredEntity, slot: Int) throws(ContextError) {
    if !Task.isCancelled { return }
    let name = entity.schema.stored[slot].name
    throw ContextError(
      .cancelled,
      "the task that sets \(entity.name).\(name) was cancelled before all chunks were there",
      context: .init(entity: entity.name, properties: [name])
    )
  }

  /// Sets an attribute that is stored externally, of a stored object, to the content of a file: as
  /// `setBlob(_:of:from:)`, which takes chunks.
  ///
  /// - Parameters:
  ///   - attribute: an attribute of the model itself, without rules.
  ///   - id: the object.
  ///   - file: the file, which is read in chunks, on the calling task.
  ///   - durability: when the change counts as done, if not as the container's options say.
  ///   - author: whose change it is, for the history.
  /// - Throws: Foundation's error when the file can't be read, and what the other method throws.
  public func setBlob<Root: ManagedObject, Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    of id: ManagedObjectID,
    contentsOf file: URL,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws where Value._Present == Data {
    try await setBlob(attribute, of: id, from: FileChunks(file: file), durability: durability, author: author)
  }

  /// Sets a text that is stored externally, of a stored object, to the content of a file in UTF-8.
  ///
  /// - Throws: `wrongValue` for a file that isn't UTF-8, and what the method for data throws.
  public func setBlob<Root: ManagedObject, Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    of id: ManagedObjectID,
    contentsOf file: URL,
    durability: Durability? = nil,
    author: String? = nil
  ) async throws where Value._Present == String {
    try await setBlob(attribute, of: id, from: FileChunks(file: file), durability: durability, author: author)
  }

  private func externalSlot<Root: ManagedObject>(
    of attribute: PartialKeyPath<Root>
  ) throws(ContextError) -> (StoredEntity, Int) {
    try handle.checkOpen()
    guard let entity = coordinator.models.entity(of: Root.self) else { throw .unknownModel(Root.self) }
    let names = try ContextError.resolving { () throws(QueryError) in try Root.predicatePath(of: attribute) }
    let name = names.joined(separator: ".")
    guard let slot = entity.schema.storedProperty(named: name)?.slot,
      entity.externalSlots.contains(slot),
      !coordinator.models.checks[entity.ordinal].contains(where: { $0.slot == slot })
    else {
      let message = "\(name) must be an externally stored attribute of \(entity.name) that has no rules"
      throw ContextError(QueryError(.keyPath, message, keyPath: name))
    }
    return (entity, slot)
  }

  /// Runs `body` with a copy of a writer on the container's queue, and returns the copy.
  private func onQueue(
    _ writer: BlobWriter,
    _ body: @escaping @Sendable (inout BlobWriter) throws -> Void
  ) async throws(ContextError) -> BlobWriter {
    try await queue.run { () throws(ContextError) in
      var copy = writer
      do { try body(&copy) } catch { throw ContextError(any: error) }
      return copy
    }
  }
}
