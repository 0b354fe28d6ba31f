import Predicates

/// How a record of an earlier layout of an entity is written in the newest one. Worked out once for each layout.
///
/// All readers of records go through it, so nothing else has to know that an entity has had other layouts.
/// Docs/Decisions/0033-records-of-earlier-layouts-are-translated-when-they-are-read.md has the measurements.
package struct LayoutTranslation: Sendable {
  /// Where a slot of the newest layout has its value from.
  private enum Source {
    /// A field of the record, of the same kind.
    case field(Int, nilValue: AttributeValue?)
    /// A field of the record, of a kind that the slot's is wider than.
    case narrowerField(Int, nilValue: AttributeValue?)
    /// The record has no such field.
    case absent(AttributeValue)
  }

  /// The layout of the records that are translated.
  private let layout: RecordLayout
  private let newest: RecordLayout
  /// In the order in which a record is written.
  private let steps: [(slot: Int, source: Source)]

  /// - Parameters:
  ///   - earlier: the layout of the records that are translated.
  ///   - entity: has the newest layout.
  ///   - slots: the properties of the slots, by slot.
  init(_ earlier: CataloguedLayout, of entity: EntitySchema, slots: [CataloguedProperty]) {
    let kinds = earlier.fields.map(\.kind)
    let newest = entity.layout
    layout = RecordLayout(kinds: kinds, places: Array(kinds.indices), number: earlier.number)
    self.newest = newest
    steps = newest.slotsByPlace.map { slot in
      let property = slots[slot]
      guard let field = earlier.fields.firstIndex(where: { $0.property == property.number }) else {
        return (slot, .absent(property.absentValue))
      }
      let nilValue = earlier.fields[field].nilValue
      let isSame = kinds[field] == newest.fields[slot].kind
      return (slot, isSame ? .field(field, nilValue: nilValue) : .narrowerField(field, nilValue: nilValue))
    }
  }

  /// Writes a record in the newest layout. False for bytes that are no record of the earlier one.
  func translate(_ bytes: UnsafeRawBufferPointer, into encoder: inout RecordEncoder) -> Bool {
    guard let record = RecordView(bytes, layout: layout) else { return false }
    encoder.begin()
    encoder.copyHeader(of: record)
    for (slot, source) in steps {
      guard set(slot, source, of: record, &encoder) else { return false }
    }
    return true
  }

  private func set(
    _ slot: Int,
    _ source: Source,
    of record: borrowing RecordView,
    _ encoder: inout RecordEncoder
  ) -> Bool {
    switch source {
    case .field(let field, let nilValue):
      if let nilValue, record.isNull(field) { return encoder.set(nilValue, at: slot) }
      encoder.copy(slot, from: record, at: field)
      return true
    case .narrowerField(let field, let nilValue):
      if record.isNull(field) { return encoder.set(nilValue ?? .null, at: slot) }
      return record.value(field).widened(to: newest.fields[slot].kind).map { encoder.set($0, at: slot) }
        ?? false
    case .absent(let value): return encoder.set(value, at: slot)
    }
  }
}
