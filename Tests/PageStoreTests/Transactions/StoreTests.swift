@_spi(Testing) import PageStore
import TestSupport
import Testing

struct StoreTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func whatWasCommittedIsReadBack() throws {
    let store = try Store.inMemory()
    try store.write { transaction in
      let tree = try transaction.tree("people")
      try tree.put(bytes("ada"), bytes("1815"))
    }
    let snapshot = try store.snapshot()
    #expect(snapshot.commit == 1)
    #expect(try snapshot.tree("people").value(for: bytes("ada")) == bytes("1815"))
    #expect(try snapshot.treeNames == ["people"])
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func aReopenedStoreHoldsEveryCommit() throws {
    let file = MemoryFile()
    for round in 0..<20 {
      let store = try Store.open(file: file, path: "", options: .init(), environment: .system)
      #expect(store.lastCommit == UInt64(round))
      try store.write { transaction in
        try transaction.tree("t").put(bytes("key \(round)"), bytes("value \(round)"))
      }
      #expect(try store.verify() == [])
      if round % 2 == 0 { try store.close() }
    }
    let store = try Store.open(file: file, path: "", options: .init(), environment: .system)
    try store.read { snapshot in
      let tree = try snapshot.tree("t")
      #expect(try tree.count == 20)
      for round in 0..<20 { #expect(try tree.value(for: bytes("key \(round)")) == bytes("value \(round)")) }
    }
    #expect(try store.verify() == [])
  }
}
