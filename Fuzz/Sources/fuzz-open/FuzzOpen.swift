import FuzzSupport
@_spi(Testing) import PageStore

/// Opens a closed store or a hostile file with bytes changed, or bytes that were never a store; every other of the changed ones with checksums that
/// fit again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOpen(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  var file =
    switch mode % 8 {
    case 0: input.rest
    case 1, 2: SampleFiles.changed(hostileFile(input.byte()), by: &input)
    default: SampleFiles.changed(SampleFiles.closed, by: &input)
    }
  if mode % 8 != 0, mode & 0x40 == 0 { FileSealing.seal(&file) }
  exercise(file, isReadOnly: mode & 0x80 != 0)
  return 0
}

private func hostileFile(_ choice: UInt8) -> [UInt8] {
  HostileFile.allCases[Int(choice) % HostileFile.allCases.count].bytes
}
