import Predicates

/// The steps that write a record of an earlier layout of an entity in the newest layout: byte copies, computed once for
/// each layout.
///
/// All readers of records go through it, so nothing else has to know that an entity has had other layouts.
/// Docs/Decisions/0033-records-of-earlier-layouts-are-translated-when-they-are-read.md has the measurements.
struct LayoutTranslation: Sendable {
  /// Bytes of the fixed section that go from one place to another.
  struct Copy {
    let source: Int
    let target: Int
    var byteCount: Int
  }

  /// Bits of the null bitmap that move up by `shift` places, or down if `shift` is below 0.
  struct BitMove {
    var bits: UInt64
    let shift: Int
  }

  /// A value of fixed width that the record has in a narrower kind.
  struct Widening {
    let nullBit: UInt64
    let source: Int
    let target: Int
    let from: AttributeKind
    let to: AttributeKind
  }

  /// A value of fixed width that takes the place of nil, or of a value that the record lacks: a range of ``constants``.
  struct Replacement {
    /// The bit of the value; 0 for one that the record lacks.
    let nullBit: UInt64
    /// The null bit of the flag that says whether the embedded value that this value is a part of is there. If the bit
    /// is set, the part is nil. 0 if the embedded value is always there, and for other values.
    let flagBit: UInt64
    let target: Int
    let constant: Range<Int>
  }

  /// Values of variable width that follow each other in both layouts.
  struct VariablePiece {
    /// Ordinals in the record. Empty for a value that the record lacks.
    var sources: Range<Int>
    /// The ordinal of the first in the newest layout.
    let target: Int
    /// The bit of the one value that ``constant`` replaces if it is nil; 0 for none.
    let nullBit: UInt64
    /// As that of a ``Replacement``.
    var flagBit: UInt64 = 0
    /// A range of ``constants``.
    let constant: Range<Int>
  }

  /// The layout of the records that are translated.
  let layout: RecordLayout
  let newest: RecordLayout
  /// Whether only some values are translated.
  let isPartial: Bool
  /// A record of the newest layout up to its variable section, with the values that all translated records have.
  private(set) var template: [UInt8]
  /// The eight bytes of ``template`` from the null bitmap on, the first in the lowest bits; zeros beyond its end.
  private(set) var bitmapWord: UInt64 = 0
  private(set) var constants: [UInt8] = []
  private(set) var copies: [Copy] = []
  private(set) var bitMoves: [BitMove] = []
  private(set) var widenings: [Widening] = []
  private(set) var replacements: [Replacement] = []
  private(set) var variablePieces: [VariablePiece] = []

  /// Nil if the catalogue's value for objects that lack one is not of the property's kind.
  ///
  /// - Parameters:
  ///   - earlier: the layout of the records that are translated.
  ///   - newest: the layout that they get.
  ///   - slots: the properties of the slots, by slot.
  ///   - wanted: the slots that translated records have. The values of other slots are undefined.
  init?(
    _ earlier: CataloguedLayout,
    to newest: RecordLayout,
    slots: [CataloguedProperty],
    reading wanted: SlotSet = .all
  ) {
    let kinds = earlier.fields.map(\.kind)
    layout = RecordLayout(kinds: kinds, places: Array(kinds.indices), number: earlier.number)
    self.newest = newest
    isPartial = wanted != .all
    var encoder = RecordEncoder(layout: newest)
    encoder.begin()
    template = Array(encoder.finish())
    for place in newest.fields.indices {
      template[RecordLayout.headerByteCount + place >> 3] &= ~(1 << UInt8(place & 7))
    }
    for slot in newest.slotsByPlace where wanted.contains(slot) {
      let property = slots[slot]
      let field = earlier.fields.firstIndex { $0.property == property.number }
      let flag = place(ofFlagOf: property, earlier, slots)
      let isPossible =
        field.map { add($0, nilValue: earlier.fields[$0].nilValue, flag, at: newest.fields[slot]) }
        ?? add(property.absentValue, flag, at: newest.fields[slot])
      if !isPossible { return nil }
    }
    bitmapWord = Self.bitmapWord(template)
  }

  /// The state of the embedded value that a property is a part of.
  private enum Flag {
    /// The value is there.
    case set
    /// The value is nil.
    case null
    /// The field at this place says whether the value is there.
    case field(Int)
  }

  private func place(
    ofFlagOf property: CataloguedProperty,
    _ earlier: CataloguedLayout,
    _ slots: [CataloguedProperty]
  ) -> Flag {
    guard let flag = property.flag(among: slots).map({ slots[$0] }) else { return .set }
    guard let field = earlier.fields.firstIndex(where: { $0.property == flag.number }) else {
      return flag.absentValue.isNull ? .null : .set
    }
    return .field(layout.fields[field].place)
  }

  private static func bitmapWord(_ template: [UInt8]) -> UInt64 {
    template.dropFirst(RecordLayout.headerByteCount).prefix(8).enumerated().reduce(0) { word, byte in
      word | UInt64(byte.element) << UInt64(8 * byte.offset)
    }
  }

  // MARK: Fields of the record

  private mutating func add(
    _ field: Int,
    nilValue: AttributeValue?,
    _ flag: Flag,
    at target: RecordLayout.Field
  ) -> Bool {
    let source = layout.fields[field]
    var nilValue = nilValue
    if case .null = flag { nilValue = nil }
    let constant = nilValue.map { appendConstant($0, target.kind) } ?? 0..<0
    guard let constant else { return false }
    let nullBit: UInt64 = 1 << UInt64(source.place)
    if nilValue == nil { move(nullBit, by: target.place - source.place) }
    let flagBit = nilValue == nil ? 0 : follow(flag, at: target)
    guard let byteCount = source.kind.fixedByteCount else {
      add(source.position, nilValue == nil ? 0 : nullBit, flagBit, constant, at: target.position)
      return true
    }
    if source.kind == target.kind {
      copy(byteCount, from: source.position, to: target.position)
    } else {
      widenings.append(
        Widening(
          nullBit: nullBit,
          source: source.position,
          target: target.position,
          from: source.kind,
          to: target.kind
        )
      )
    }
    if nilValue != nil {
      replacements.append(
        Replacement(nullBit: nullBit, flagBit: flagBit, target: target.position, constant: constant)
      )
    }
    return true
  }

  /// Makes a part nil if the embedded value that it belongs to is nil. Returns the bit that says so; 0 if the embedded
  /// value is always there.
  private mutating func follow(_ flag: Flag, at target: RecordLayout.Field) -> UInt64 {
    guard case .field(let place) = flag else { return 0 }
    move(1 << UInt64(place), by: target.place - place)
    return 1 << UInt64(place)
  }

  private mutating func move(_ bit: UInt64, by shift: Int) {
    if let place = bitMoves.firstIndex(where: { $0.shift == shift }) {
      bitMoves[place].bits |= bit
    } else {
      bitMoves.append(BitMove(bits: bit, shift: shift))
    }
  }

  private mutating func copy(_ byteCount: Int, from source: Int, to target: Int) {
    if let last = copies.last, last.source + last.byteCount == source, last.target + last.byteCount == target
    {
      copies[copies.count - 1].byteCount += byteCount
    } else {
      copies.append(Copy(source: source, target: target, byteCount: byteCount))
    }
  }

  /// Targets come in the order of their ordinals.
  private mutating func add(
    _ source: Int,
    _ nullBit: UInt64,
    _ flagBit: UInt64,
    _ constant: Range<Int>,
    at target: Int
  ) {
    if let last = variablePieces.last, last.nullBit == 0, nullBit == 0, !last.sources.isEmpty,
      last.sources.upperBound == source, last.target + last.sources.count == target
    {
      variablePieces[variablePieces.count - 1].sources = last.sources.lowerBound..<source + 1
    } else {
      append(
        VariablePiece(
          sources: source..<source + 1,
          target: target,
          nullBit: nullBit,
          flagBit: flagBit,
          constant: constant
        )
      )
    }
  }

  /// Appends a piece. A value begins where the one before ends, so the value before a piece needs an end even if it is
  /// not read.
  private mutating func append(_ piece: VariablePiece) {
    let next = variablePieces.last.map { $0.target + max(1, $0.sources.count) } ?? 0
    if piece.target > next {
      variablePieces.append(
        VariablePiece(sources: 0..<0, target: piece.target - 1, nullBit: 0, constant: 0..<0)
      )
    }
    variablePieces.append(piece)
  }

  // MARK: Values that the record lacks

  private mutating func add(_ value: AttributeValue, _ flag: Flag, at target: RecordLayout.Field) -> Bool {
    var value = value
    if case .null = flag { value = .null }
    let flagBit = value.isNull ? 0 : follow(flag, at: target)
    if value.isNull { template[Int(target.nullByte)] |= target.nullMask }
    guard let constant = appendConstant(value, target.kind) else { return false }
    if target.kind.fixedByteCount == nil {
      append(
        VariablePiece(
          sources: 0..<0,
          target: target.position,
          nullBit: 0,
          flagBit: flagBit,
          constant: constant
        )
      )
    } else if flagBit != 0 {
      replacements.append(
        Replacement(nullBit: 0, flagBit: flagBit, target: target.position, constant: constant)
      )
    } else {
      template.replaceSubrange(target.position..<target.position + constant.count, with: constants[constant])
    }
    return true
  }

  /// Appends the bytes that a record has for a value, none for nil. Returns nil for a value of another kind.
  private mutating func appendConstant(_ value: AttributeValue, _ kind: AttributeKind) -> Range<Int>? {
    let start = constants.count
    if value.isNull { return start..<start }
    var encoder = RecordEncoder(layout: RecordLayout(kinds: [kind]))
    // The view owns neither its bytes nor its layout: the encoder must not end before.
    defer { encoder.removeAll() }
    encoder.begin()
    guard encoder.set(value, at: 0) else { return nil }
    let record = RecordView(validated: UnsafeRawBufferPointer(encoder.finish()), layout: encoder.layout)
    if let byteCount = kind.fixedByteCount {
      constants += record.bytes[record.field(0).position...].prefix(byteCount)
    } else {
      constants += record.variable(0)
    }
    return start..<constants.count
  }
}
