@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// Opens a file of any content, reads all of its contents, writes to it and closes it. Typed errors are expected;
/// anything else ends the process.
public func exercise(_ file: [UInt8], isReadOnly: Bool) {
  var options = StoreOptions()
  options.isReadOnly = isReadOnly
  do {
    let store = try Store.open(
      file: MeteredFile(file),
      path: "fuzzed",
      options: options,
      environment: .simulated(seed: 1)
    )
    read(store, fileByteCount: file.count)
    _ = try store.verify()
    if !isReadOnly {
      try store.write { transaction in try transaction.tree("fuzzed").put([1], [2]) }
    }
    try store.close()
  } catch {
    guard error is StoreError else { report("an error that is not typed: \(error)") }
  }
}

/// Reads every tree. A damaged tree doesn't keep the others from being read. An entry takes more than a byte, in a page
/// or in the log, so there can't be more entries than bytes.
private func read(_ store: Store, fileByteCount: Int) {
  var walked = 0
  guard let snapshot = try? store.snapshot(), let names = try? snapshot.treeNames else { return }
  for name in names {
    do {
      let tree = try snapshot.tree(name)
      try tree.forEach(in: .all, reversed: false) { _, _ in
        walked += 1
        if walked > fileByteCount { report("a file of \(fileByteCount) bytes has more entries than bytes") }
        return true
      }
      let count = try tree.count
      for position in stride(from: 0, to: count, by: max(1, count / 16)) {
        guard let entry = try tree.entry(at: position) else { continue }
        _ = try tree.rank(of: entry.key)
        _ = try tree.value(for: entry.key)
      }
    } catch {
      guard error is StoreError else { report("an error that is not typed: \(error)") }
    }
  }
}
