import Foundation
import Predicates

/// Writes records of one earlier layout in the newest one, each into the memory of the one before.
///
/// The bytes come from disk. ``translate(_:)`` first checks that the record has the fixed section and the table of ends
/// of its layout, and, unless only values of fixed width are read, that the ends ascend up to its last byte: all
/// offsets of a ``LayoutTranslation`` are within these bounds.
final class RecordTranslator {
  private let source: Sections
  private let newest: Sections
  private let bitmapWord: UInt64
  private let checksEnds: Bool
  // The steps are kept outside of arrays: counting references to five arrays would cost too much for the little work on
  // one record.
  private let copies: Steps<LayoutTranslation.Copy>
  private let bitMoves: Steps<LayoutTranslation.BitMove>
  private let widenings: Steps<LayoutTranslation.Widening>
  private let replacements: Steps<LayoutTranslation.Replacement>
  private let variablePieces: Steps<LayoutTranslation.VariablePiece>
  private let constants: Steps<UInt8>
  /// The record being written. The bytes that all translated records have in common are there from the start.
  private var target: UnsafeMutableRawPointer
  private var capacity: Int

  /// Room for the eight bytes from the null bitmap on, which reach beyond a small record.
  private static let least = 256

  /// Offsets of a layout.
  private struct Sections {
    let bitmapByteCount: Int
    let ends: Int
    let values: Int
    let variableCount: Int

    init(_ layout: RecordLayout) {
      bitmapByteCount = (layout.fields.count + 7) / 8
      ends = layout.endsOffset
      values = layout.variableOffset
      variableCount = layout.variableCount
    }
  }

  init(_ translation: LayoutTranslation) {
    source = Sections(translation.layout)
    newest = Sections(translation.newest)
    bitmapWord = translation.bitmapWord
    checksEnds = !translation.isPartial || !translation.variablePieces.isEmpty
    copies = Steps(translation.copies)
    bitMoves = Steps(translation.bitMoves)
    widenings = Steps(translation.widenings)
    replacements = Steps(translation.replacements)
    variablePieces = Steps(translation.variablePieces)
    constants = Steps(translation.constants)
    capacity = max(Self.least, translation.template.count)
    target = .allocate(byteCount: capacity, alignment: 8)
    UnsafeMutableRawBufferPointer(start: target, count: capacity).copyBytes(from: translation.template)
  }

  deinit { target.deallocate() }

  /// The record in the newest layout, which stays until the next call. Nil for bytes that are no record of the earlier
  /// layout. O(bytes).
  func translate(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let record = bytes.baseAddress, isRecord(record, bytes.count) else { return nil }
    let nulls = nulls(of: record)
    writeFixed(record, nulls, to: target)
    let count = writeVariables(record, nulls)
    guard count - newest.values <= Int(UInt32.max) else { return nil }
    return UnsafeRawBufferPointer(start: target, count: count)
  }

  /// Whether the bytes have the sections of the earlier layout, as far as they are read.
  private func isRecord(_ record: UnsafeRawPointer, _ count: Int) -> Bool {
    guard count >= source.values else { return false }
    if !checksEnds { return true }
    var previous: UInt32 = 0
    for ordinal in 0..<source.variableCount {
      let end = Self.end(ordinal, record + source.ends)
      guard end >= previous else { return false }
      previous = end
    }
    return source.values + Int(previous) == count
  }

  // MARK: Header, nulls and values of fixed width

  /// A bit for each field. Loads the eight bytes that end where the bitmap does, because the record may end there, too.
  private func nulls(of record: UnsafeRawPointer) -> UInt64 {
    if source.bitmapByteCount == 0 { return 0 }
    let offset = RecordLayout.headerByteCount + source.bitmapByteCount - 8
    let word = UInt64(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    return word &>> UInt64(64 - 8 * source.bitmapByteCount)
  }

  private func writeFixed(_ record: UnsafeRawPointer, _ nulls: UInt64, to target: UnsafeMutableRawPointer) {
    // The concrete entity, and the commit that changed the object.
    copy(record + 2, to: target + 2, as: UInt16.self)
    copy(record + 8, to: target + 8, as: UInt64.self)
    var word = bitmapWord
    for index in 0..<bitMoves.count { word |= bitMoves[index].moved(nulls) }
    // The bytes behind the bitmap among these eight come from the template, or are written below.
    target.storeBytes(of: word.littleEndian, toByteOffset: RecordLayout.headerByteCount, as: UInt64.self)
    for index in 0..<copies.count {
      let step = copies[index]
      copyBytes(record + step.source, to: target + step.target, count: step.byteCount)
    }
    for index in 0..<widenings.count { widenings[index].perform(record, target, nulls) }
    for index in 0..<replacements.count {
      let step = replacements[index]
      if nulls & step.nullBit != step.nullBit { continue }
      if nulls & step.flagBit == 0 {
        copyBytes(
          constants.start + step.constant.lowerBound,
          to: target + step.target,
          count: step.constant.count
        )
      } else {
        // The value of the record before may still be there.
        (target + step.target).initializeMemory(as: UInt8.self, repeating: 0, count: step.constant.count)
      }
    }
  }

  // MARK: Values of variable width

  /// Returns where the record ends.
  private func writeVariables(_ record: UnsafeRawPointer, _ nulls: UInt64) -> Int {
    var count = newest.values
    for index in 0..<variablePieces.count {
      let piece = variablePieces[index]
      if piece.sources.isEmpty || nulls & piece.nullBit != 0 {
        let byteCount = nulls & piece.flagBit == 0 ? piece.constant.count : 0
        append(constants.start + piece.constant.lowerBound, byteCount, at: count)
        count += byteCount
        writeEnd(piece.target, UInt32(truncatingIfNeeded: count - newest.values))
      } else {
        count += append(piece, of: record, at: count)
      }
    }
    return count
  }

  /// Writes the values of a piece at once, and returns their bytes; all their ends move by the same number.
  private func append(
    _ piece: LayoutTranslation.VariablePiece,
    of record: UnsafeRawPointer,
    at count: Int
  ) -> Int {
    let ends = record + source.ends
    let first = piece.sources.lowerBound
    let start = first == 0 ? 0 : Self.end(first - 1, ends)
    let distance = UInt32(truncatingIfNeeded: count - newest.values) &- start
    var end = start
    for ordinal in piece.sources {
      end = Self.end(ordinal, ends)
      writeEnd(piece.target + ordinal - first, end &+ distance)
    }
    let byteCount = Int(end) - Int(start)
    append(record + source.values + Int(start), byteCount, at: count)
    return byteCount
  }

  private static func end(_ ordinal: Int, _ ends: UnsafeRawPointer) -> UInt32 {
    UInt32(littleEndian: ends.loadUnaligned(fromByteOffset: 4 * ordinal, as: UInt32.self))
  }

  private func writeEnd(_ ordinal: Int, _ end: UInt32) {
    target.storeBytes(of: end.littleEndian, toByteOffset: newest.ends + 4 * ordinal, as: UInt32.self)
  }

  private func append(_ bytes: UnsafeRawPointer, _ byteCount: Int, at count: Int) {
    if capacity - count < byteCount { grow(to: 2 * (count + byteCount), keeping: count) }
    copyBytes(bytes, to: target + count, count: byteCount)
  }

  private func grow(to larger: Int, keeping count: Int) {
    let grown = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    grown.copyMemory(from: target, byteCount: count)
    target.deallocate()
    target = grown
    capacity = larger
  }
}

/// The steps of one kind of a translator, in memory of their own. Reads are unchecked: the callers count up to
/// ``count``.
private struct Steps<Step>: ~Copyable {
  let start: UnsafeMutablePointer<Step>
  let count: Int

  init(_ steps: [Step]) {
    count = steps.count
    start = .allocate(capacity: max(1, count))
    for (index, step) in steps.enumerated() { (start + index).initialize(to: step) }
  }

  deinit {
    start.deinitialize(count: count)
    start.deallocate()
  }

  @inline(__always)
  subscript(index: Int) -> Step { start[index] }
}

@inline(__always)
private func copy<T: BitwiseCopyable>(
  _ source: UnsafeRawPointer,
  to target: UnsafeMutableRawPointer,
  as type: T.Type
) {
  target.storeBytes(of: source.loadUnaligned(as: type), as: type)
}

extension LayoutTranslation.BitMove {
  @inline(__always)
  fileprivate func moved(_ nulls: UInt64) -> UInt64 {
    shift >= 0 ? (nulls & bits) &<< UInt64(shift) : (nulls & bits) &>> UInt64(-shift)
  }
}

/// Copies a few bytes without a call; the ranges don't overlap.
@inline(__always)
private func copyBytes(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
  if count > 64 { return target.copyMemory(from: source, byteCount: count) }
  var offset = 0
  while offset &+ 8 <= count {
    copy(source + offset, to: target + offset, as: UInt64.self)
    offset &+= 8
  }
  if count & 4 != 0 {
    copy(source + offset, to: target + offset, as: UInt32.self)
    offset &+= 4
  }
  if count & 2 != 0 {
    copy(source + offset, to: target + offset, as: UInt16.self)
    offset &+= 2
  }
  if count & 1 != 0 { copy(source + offset, to: target + offset, as: UInt8.self) }
}

// MARK: - Widening

extension LayoutTranslation.Widening {
  /// Writes the value in the wider kind; zeros for nil.
  fileprivate func perform(_ record: UnsafeRawPointer, _ translated: UnsafeMutableRawPointer, _ nulls: UInt64)
  {
    let (source, target) = (record + source, translated + target)
    let isNull = nulls & nullBit != 0
    switch to {
    case .decimal:
      StoredDecimal.withBytes(of: isNull ? 0 : decimal(source)) { bytes in
        for (offset, byte) in bytes.enumerated() {
          target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
      }
    case .double: store(isNull ? 0 : double(source).bitPattern, target)
    case .float: store(isNull ? 0 : Float(integer(source)).bitPattern, target)
    default: store(integer: isNull ? 0 : integer(source), target)
    }
  }

  private func load<T: FixedWidthInteger & BitwiseCopyable>(_ source: UnsafeRawPointer, as type: T.Type) -> T
  {
    T(littleEndian: source.loadUnaligned(as: type))
  }

  private func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ target: UnsafeMutableRawPointer) {
    target.storeBytes(of: value.littleEndian, as: T.self)
  }

  /// Of all kinds of integers but `uint64`, which no other integer is wider than.
  private func integer(_ source: UnsafeRawPointer) -> Int64 {
    switch from {
    case .int8: Int64(load(source, as: Int8.self))
    case .int16: Int64(load(source, as: Int16.self))
    case .int32: Int64(load(source, as: Int32.self))
    case .uint8: Int64(load(source, as: UInt8.self))
    case .uint16: Int64(load(source, as: UInt16.self))
    case .uint32: Int64(load(source, as: UInt32.self))
    default: load(source, as: Int64.self)
    }
  }

  private func double(_ source: UnsafeRawPointer) -> Double {
    from == .float ? Double(Float(bitPattern: load(source, as: UInt32.self))) : Double(integer(source))
  }

  private func decimal(_ source: UnsafeRawPointer) -> Decimal {
    from == .uint64 ? Decimal(load(source, as: UInt64.self)) : Decimal(integer(source))
  }

  private func store(integer value: Int64, _ target: UnsafeMutableRawPointer) {
    switch to {
    case .int16, .uint16: store(Int16(truncatingIfNeeded: value), target)
    case .int32, .uint32: store(Int32(truncatingIfNeeded: value), target)
    default: store(value, target)
    }
  }
}
