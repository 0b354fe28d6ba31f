import PageStore
import Predicates

// Long values of attributes that are stored externally. Requests have the values in their records; here they go to
// trees of their own.

/// A value that nothing refers to any more.
struct DeadBlob {
  let treeName: String
  let reference: ExternalReference
}

extension SaveTransaction {
  /// Stores the long values of new records, and returns the records with references in place of these values.
  ///
  /// - Parameter encoder: owns the records that were changed.
  mutating func storeBlobs(
    of records: [EntityChanges.Record],
    _ entity: StoredEntity,
    _ encoder: inout RecordEncoder,
    _ transaction: inout WriteTransaction
  ) throws -> [EntityChanges.Record] {
    if entity.externalSlots.isEmpty { return records }
    var stored: [EntityChanges.Record] = []
    stored.reserveCapacity(records.count)
    for record in records {
      let view = RecordView(validated: UnsafeRawBufferPointer(record.bytes), layout: entity.layout)
      let bytes = try storeBlobs(of: view, in: .all, entity, &encoder, &transaction)
      stored.append(.init(number: record.number, bytes: bytes ?? record.bytes))
    }
    return stored
  }

  /// Stores the long values of a record, and returns a copy of it with references in place of these values; nil if
  /// it has none.
  mutating func storeBlobs(
    of record: RecordView,
    in slots: SlotSet,
    _ entity: StoredEntity,
    _ encoder: inout RecordEncoder,
    _ transaction: inout WriteTransaction
  ) throws -> UnsafeMutableRawBufferPointer? {
    var references: [Int: ExternalReference] = [:]
    for slot in entity.externalSlots.intersection(slots) {
      let treeName = entity.blobTreeName(at: slot)
      switch record.external(slot) {
      case .inline(let value)? where value.count > BlobKey.inlineByteCount:
        references[slot] = try store(value, in: tree(treeName, &transaction))
      case .reference(let reference)?: try takeStaged(reference, in: treeName, &transaction)
      case .inline?, nil: break
      }
    }
    if references.isEmpty { return nil }
    encoder.begin()
    for slot in entity.slotsByPlace {
      if let reference = references[slot] {
        encoder.set(reference, at: slot)
      } else {
        encoder.copy(slot, from: record)
      }
    }
    return encoder.finish()
  }

  /// Takes over a staged value that a record of this save refers to: the value is no longer staged.
  private mutating func takeStaged(
    _ reference: ExternalReference,
    in treeName: String,
    _ transaction: inout WriteTransaction
  ) throws {
    let catalogue = try tree(SchemaTree.name, &transaction)
    guard try catalogue.remove(StagedBlobs.key(reference.commit, in: treeName)) else {
      throw ContextError(.corrupt, "a save refers to a value of \(treeName) that isn't staged")
    }
  }

  private mutating func store(
    _ value: UnsafeRawBufferPointer,
    in tree: WriteTree
  ) throws(StoreError) -> ExternalReference {
    blobCount += 1
    let reference = ExternalReference(
      commit: commit,
      ordinal: blobCount,
      byteCount: value.count,
      hash: BlobHash.hash(value)
    )
    for part in 0..<reference.partCount {
      let start = part * BlobKey.partByteCount
      let bytes = UnsafeRawBufferPointer(rebasing: value[start..<start + reference.byteCount(ofPart: part)])
      try BlobKey.key(reference, part: part).withBytes { key throws(StoreError) in
        _ = try tree.put(near: key, bytes)
      }
    }
    return reference
  }

  /// Notes the values that a stored record refers to, because the record will no longer refer to them.
  mutating func noteDeadBlobs(of record: RecordView, in slots: SlotSet, _ entity: StoredEntity) {
    for slot in entity.externalSlots.intersection(slots) {
      guard let reference = record.externalReference(slot) else { continue }
      deadBlobs.append(DeadBlob(treeName: entity.blobTreeName(at: slot), reference: reference))
    }
  }

  mutating func removeDeadBlobs(_ transaction: inout WriteTransaction) throws(StoreError) {
    for blob in deadBlobs {
      try tree(blob.treeName, &transaction).removeRange(.prefix(BlobKey.prefix(blob.reference)))
    }
  }
}
