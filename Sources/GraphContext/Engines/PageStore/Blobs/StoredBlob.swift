import Foundation
import PageStore
import Predicates

/// A value in the tree of its attribute, as a snapshot has it.
struct StoredBlob: BlobContents {
  let snapshot: Snapshot
  let reference: ExternalReference
  let slot: Int
  let entity: StoredEntity

  var byteCount: Int { reference.byteCount }
  var hash: UInt64 { reference.hash }

  func read(_ range: Range<Int>) throws(ContextError) -> Data {
    var data = Data()
    let isWhole = try ContextError.mapping { () throws(StoreError) in
      try read(range) { data.append(contentsOf: $0) }
    }
    guard isWhole else { throw .damagedBlob(at: slot, of: entity) }
    return data
  }

  /// Calls `body` with the pieces of a range, one after the other. Returns false if a part is missing or has a
  /// wrong length. The claimed length isn't trusted: no memory is allocated for it.
  private func read(
    _ range: Range<Int>,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool {
    guard let tree = try snapshot.treeIfPresent(entity.blobTreeName(at: slot)) else { return false }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let part = offset / BlobKey.partByteCount
      let start = part * BlobKey.partByteCount
      let (first, end) = (offset - start, min(range.upperBound - start, BlobKey.partByteCount))
      let isThere = try BlobKey.key(reference, part: part).withBytes { key throws(StoreError) in
        try tree.find(key)?.withBytes { bytes in
          guard bytes.count == reference.byteCount(ofPart: part) else { return false }
          body(UnsafeRawBufferPointer(rebasing: bytes[first..<end]))
          return true
        }
      }
      guard isThere ?? false else { return false }
      offset = start + end
    }
    return true
  }
}

extension StoreView {
  func contents(
    of reference: ExternalReference,
    at slot: Int,
    of entity: StoredEntity
  ) throws(ContextError) -> any BlobContents {
    try ContextError.mapping { () throws(StoreError) in
      StoredBlob(snapshot: try snapshot, reference: reference, slot: slot, entity: entity)
    }
  }
}
