import Predicates

/// Gives the records of one entity in its newest layout, whichever they were stored with.
final class RecordReader {
  private let entity: StoredEntity
  /// The number of the newest layout.
  private let newestLayout: UInt32
  /// By the number of the layout, as far as records of it came.
  private var translators: [RecordTranslator?] = []

  init(_ entity: StoredEntity) {
    self.entity = entity
    newestLayout = entity.layout.number
  }

  /// The record itself if it has the newest layout, else a translation that stays until the next call. Nil for bytes of no layout of the
  /// entity. O(1) for the newest layout.
  @inline(__always)
  func newest(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    RecordLayout.number(of: bytes) == newestLayout ? bytes : translated(bytes)
  }

  /// The record in the newest layout, checked. Nil for bytes that are no record of the entity.
  func view(_ bytes: UnsafeRawBufferPointer) -> RecordView? {
    newest(bytes).flatMap { RecordView($0, layout: entity.layout) }
  }

  @inline(never)
  private func translated(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let number = RecordLayout.number(of: bytes) else { return nil }
    if number < translators.count, let translator = translators[Int(number)] {
      return translator.translate(bytes)
    }
    return translator(from: number)?.translate(bytes)
  }

  private func translator(from layout: UInt32) -> RecordTranslator? {
    guard let translation = entity.translation(from: layout) else { return nil }
    let translator = RecordTranslator(translation)
    let missing = Int(layout) + 1 - translators.count
    if missing > 0 { translators += Array(repeating: nil, count: missing) }
    translators[Int(layout)] = translator
    return translator
  }
}
