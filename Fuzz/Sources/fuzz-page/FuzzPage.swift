import FuzzSupport
@_spi(Testing) import PageStore

/// Decodes a page whose checksum is made to fit: the input itself, or a page of a store with bytes changed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(start, count)
  let mode = input.byte()
  let key = input.take(Int(mode >> 4))
  let page = mode % 4 == 0 ? input.rest : changedPage(&input)
  do {
    try PageProbe.examine(page, key: key)
  } catch {
    // Every error is typed; refusing the page is the expected outcome.
  }
  return 0
}

private func changedPage(_ input: inout FuzzInput) -> [UInt8] {
  let pageSize = 4_096
  let file = SampleFiles.closed
  let number = Int(input.number(byteCount: 2)) % (file.count / pageSize)
  return SampleFiles.changed(Array(file[number * pageSize..<(number + 1) * pageSize]), by: &input)
}
