import Predicates

/// Gives the records of one entity in its newest layout, whichever they were stored with.
final class RecordReader {
  private let entity: StoredEntity
  private var encoder: RecordEncoder

  init(_ entity: StoredEntity) {
    self.entity = entity
    encoder = RecordEncoder(layout: entity.layout, blockByteCount: 1 << 16)
  }

  /// The record itself if it has the newest layout, else a translation that stays until the next call. Nil for bytes of no layout of the
  /// entity. O(1) for the newest layout.
  @inline(__always)
  func newest(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    RecordLayout.number(of: bytes) == entity.layout.number ? bytes : translated(bytes)
  }

  /// The record in the newest layout, checked. Nil for bytes that are no record of the entity.
  func view(_ bytes: UnsafeRawBufferPointer) -> RecordView? {
    newest(bytes).flatMap { RecordView($0, layout: entity.layout) }
  }

  private func translated(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let number = RecordLayout.number(of: bytes), let translation = entity.translation(from: number)
    else { return nil }
    encoder.removeAll()
    guard translation.translate(bytes, into: &encoder) else { return nil }
    return UnsafeRawBufferPointer(encoder.finish())
  }
}
