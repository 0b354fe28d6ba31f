import Predicates

/// Gives the records of one entity in its newest layout, whichever layout they were stored with.
///
/// If a reader is made for some slots only, it doesn't translate the others: for a scan that reads a few values of each
/// record, translating all values would cost as much as the scan.
final class RecordReader {
  private let entity: StoredEntity
  /// The slots that records have.
  private let slots: SlotSet
  /// The number of the newest layout.
  private let newestLayout: UInt32
  /// By the number of the layout; nil for layouts of which no record was read.
  private var translators: [RecordTranslator?] = []
  /// For whole records, where ``newest(_:)`` gives only some slots.
  private lazy var wholeReader = RecordReader(entity)

  /// - Parameter slots: the slots that are read. The values of other slots are undefined.
  init(_ entity: StoredEntity, _ slots: SlotSet = .all) {
    self.entity = entity
    self.slots = slots
    newestLayout = entity.layout.number
  }

  /// The record itself if it has the newest layout, else a translation that stays until the next call. Nil for bytes
  /// that have no layout of the entity. O(1) for the newest layout.
  @inline(__always)
  func newest(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    RecordLayout.number(of: bytes) == newestLayout ? bytes : translated(bytes)
  }

  /// ``newest(_:)`` with all slots. A translation stays until the next call.
  func whole(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    slots == .all ? newest(bytes) : wholeReader.newest(bytes)
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
    guard let translation = entity.translation(from: layout, reading: slots) else { return nil }
    let translator = RecordTranslator(translation)
    let missing = Int(layout) + 1 - translators.count
    if missing > 0 { translators += Array(repeating: nil, count: missing) }
    translators[Int(layout)] = translator
    return translator
  }
}
