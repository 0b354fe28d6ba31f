import FuzzSupport

/// Opens a closed store with bytes changed, or bytes that were never one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOpen(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  let file = mode % 8 == 0 ? input.rest : SampleFiles.changed(SampleFiles.closed, by: &input)
  exercise(file, isReadOnly: mode & 0x80 != 0)
  return 0
}
