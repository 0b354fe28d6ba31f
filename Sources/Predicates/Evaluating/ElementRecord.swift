import Foundation

/// The record that is made from an element of a list, so that the code that tests and reads records works with
/// elements, too.
final class ElementRecord {
  let kind: AttributeKind
  private let layout: RecordLayout
  private var bytes: UnsafeMutableRawBufferPointer

  /// Makes a record of a layout.
  ///
  /// - Parameter layout: that of ``EntitySchema/element(of:)``: one value.
  init(_ layout: RecordLayout) {
    self.layout = layout
    kind = layout.fields[0].kind
    bytes = .allocate(byteCount: layout.variableOffset + 64, alignment: 8)
  }

  deinit { bytes.deallocate() }

  /// Returns the record with this value, which is of the kind or nil. The bytes stay until the next call.
  func hold(_ value: AttributeValue) -> UnsafeRawBufferPointer {
    // Without the room for a long text, which would be cleared for each element after it.
    UnsafeMutableRawBufferPointer(rebasing: bytes[..<layout.variableOffset])
      .initializeMemory(as: UInt8.self, repeating: 0)
    switch value {
    case .null: bytes[Int(layout.fields[0].nullByte)] = layout.fields[0].nullMask
    case .bool(let value): store(value ? 1 as UInt8 : 0)
    case .int(let value): store(integer: value)
    case .uint(let value): store(value)
    case .double(let value):
      kind == .float ? store(Float(value).bitPattern) : store(value.bitPattern)
    case .date(let value): store(value.timeIntervalSinceReferenceDate.bitPattern)
    case .reference(let value): store(value.rawValue)
    case .uuid(let value): withUnsafeBytes(of: value.uuid, store(bytes:))
    case .decimal(let value): StoredDecimal.withBytes(of: value, store(bytes:))
    case .string(var value): return value.withUTF8 { hold(variable: UnsafeRawBufferPointer($0)) }
    case .data(let value): return value.withUnsafeBytes { hold(variable: $0) }
    }
    return UnsafeRawBufferPointer(rebasing: bytes[..<layout.variableOffset])
  }

  /// Stores the low bytes: an element that its type can't have is found when the list is decoded.
  private func store(integer value: Int64) {
    switch kind.fixedByteCount {
    case 1: store(UInt8(truncatingIfNeeded: value))
    case 2: store(UInt16(truncatingIfNeeded: value))
    case 4: store(UInt32(truncatingIfNeeded: value))
    default: store(value)
    }
  }

  private func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    bytes.storeBytes(of: value.littleEndian, toByteOffset: layout.fields[0].position, as: Value.self)
  }

  private func store(bytes value: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: bytes[layout.fields[0].position...]).copyMemory(from: value)
  }

  private func hold(variable value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = layout.variableOffset + value.count
    if bytes.count < count {
      bytes.deallocate()
      bytes = .allocate(byteCount: 2 * count, alignment: 8)
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }
    let end = UInt32(truncatingIfNeeded: value.count).littleEndian
    bytes.storeBytes(of: end, toByteOffset: layout.endsOffset, as: UInt32.self)
    UnsafeMutableRawBufferPointer(rebasing: bytes[layout.variableOffset...]).copyMemory(from: value)
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }
}
