import FuzzSupport

/// Replays the log of a store that was not closed, with bytes changed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLog(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  exercise(SampleFiles.changed(SampleFiles.withLog, by: &input), isReadOnly: mode & 0x80 != 0)
  return 0
}
