/// Reads choices from a fuzzer's bytes; zeros when they are used up.
public struct FuzzInput {
  private var bytes: UnsafeRawBufferPointer.SubSequence

  public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
    bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)[...]
  }

  public var isEmpty: Bool { bytes.isEmpty }

  /// All bytes that are left.
  public var rest: [UInt8] { Array(bytes) }

  public mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  /// A little-endian number of `byteCount` bytes.
  public mutating func number(byteCount: Int) -> UInt64 {
    (0..<byteCount).reduce(0) { number, index in number | UInt64(byte()) << UInt64(8 * index) }
  }

  /// Up to `limit` bytes.
  public mutating func take(_ limit: Int) -> [UInt8] {
    let taken = Array(bytes.prefix(limit))
    bytes = bytes.dropFirst(limit)
    return taken
  }
}

/// Ends the process, so that the fuzzer keeps the input.
public func report(_ problem: String) -> Never {
  print("fuzzing found: \(problem)")
  preconditionFailure(problem)
}
