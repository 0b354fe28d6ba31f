@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Files that fuzzers change have to pass the checksums, or the fuzzers test nothing else.
struct FileSealingTests {
  /// A closed store with branches, and values of one page and of several chunks.
  private func closedStore() throws -> [UInt8] {
    let fixture = StoreFixture()
    let store = try fixture.open()
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for index in 0..<2_000 { try tree.put(bytes("key \(index)"), bytes("a value that is found \(index)")) }
      try tree.put(bytes("page"), [UInt8](repeating: 1, count: 3_000) + bytes("the end of a page"))
      try tree.put(bytes("chunks"), [UInt8](repeating: 2, count: 200_000) + bytes("the end of chunks"))
    }
    try store.close()
    return fixture.disk.content.bytes
  }

  /// The file with the first letter of the last occurrence of `text` changed.
  private func changed(_ file: [UInt8], _ text: String) throws -> [UInt8] {
    let pattern = bytes(text)
    let place = try #require(
      file.indices.dropLast(pattern.count).last {
        file[$0] == pattern[0] && file[$0..<$0 + pattern.count].elementsEqual(pattern)
      }
    )
    var file = file
    file[place] = UInt8(ascii: "X")
    return file
  }

  @Test(arguments: [
    ("key 1234", "found 1234"), ("page", "the end of a page"), ("chunks", "the end of chunks"),
  ])
  func aSealedChangeIsRead(_ key: String, _ text: String) throws {
    var file = try changed(closedStore(), text)
    let unsealed = StoreFixture(SimulatedDisk(SparseBytes(file)))
    #expect(code { _ = try unsealed.open().value(key) } == .corrupt)
    FileSealing.seal(&file)
    let store = try StoreFixture(SimulatedDisk(SparseBytes(file))).open()
    #expect(try store.verify().isEmpty)
    #expect(try store.value(key)?.hasSuffix("X" + text.dropFirst()) == true)
  }
}
