import FuzzSupport
@_spi(Testing) import PageStore

/// Replays the log of a store that was not closed, with bytes changed; every other time with checksums that fit again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLog(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  var file = SampleFiles.changed(SampleFiles.withLog, by: &input)
  if mode & 1 != 0 { FileSealing.seal(&file) }
  exercise(file, isReadOnly: mode & 0x80 != 0)
  return 0
}
