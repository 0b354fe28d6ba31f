/// Integers at fixed offsets of a block. Everything in a store's file is little-endian.
extension UnsafeRawBufferPointer {
  /// Returns the integer at `offset`, which needs no alignment. The caller has checked that it lies inside.
  @inline(__always)
  func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores an integer at `offset`, which needs no alignment. The caller has checked that it lies inside.
  @inline(__always)
  func setInteger<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}

extension UInt64 {
  /// Returns the least multiple of `step` that is not below this number.
  @inline(__always)
  func roundedUp(to step: UInt64) -> UInt64 { (self + step - 1) / step * step }
}
