import Foundation

@testable import Predicates

/// Lays records out as ``RecordLayout`` says.
enum PlainRecord {
  static func bytes(of values: [AttributeValue], layout: RecordLayout) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: layout.variableOffset)
    var tail: [UInt8] = []
    func put(_ integer: some FixedWidthInteger, at offset: Int) {
      withUnsafeBytes(of: integer.littleEndian) { bytes in
        for (index, byte) in bytes.enumerated() { record[offset + index] = byte }
      }
    }
    for (slot, field) in layout.fields.enumerated() {
      if values[slot].isNull { record[RecordLayout.headerByteCount + slot / 8] |= 1 << UInt8(slot % 8) }
      switch values[slot] {
      case .null: break
      case .bool(let value): record[field.position] = value ? 1 : 0
      case .int(let value):
        switch field.kind {
        case .int8, .uint8: put(UInt8(truncatingIfNeeded: value), at: field.position)
        case .int16, .uint16: put(UInt16(truncatingIfNeeded: value), at: field.position)
        case .int32, .uint32: put(UInt32(truncatingIfNeeded: value), at: field.position)
        default: put(value, at: field.position)
        }
      case .uint(let value): put(value, at: field.position)
      case .reference(let value): put(value.rawValue, at: field.position)
      case .double(let value):
        if field.kind == .float {
          put(Float(value).bitPattern, at: field.position)
        } else {
          put(value.bitPattern, at: field.position)
        }
      case .decimal(let value):
        let (sign, exponent, mantissa) = PlainNumber.parts(of: value)
        put(sign, at: field.position)
        put(exponent, at: field.position + 1)
        put(mantissa, at: field.position + 2)
      case .date(let value): put(value.timeIntervalSinceReferenceDate.bitPattern, at: field.position)
      case .uuid(let value):
        withUnsafeBytes(of: value.uuid) {
          record.replaceSubrange(field.position..<field.position + 16, with: $0)
        }
      case .string(let value): tail += Array(value.utf8)
      case .data(let value): tail += Array(value)
      }
      if field.kind.fixedByteCount == nil {
        put(UInt32(tail.count), at: layout.endsOffset + 4 * field.position)
      }
    }
    return record + tail
  }
}
