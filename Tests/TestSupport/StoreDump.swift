import PageStore

/// Every key and value of every tree of a store file.
public struct StoreDump: Equatable {
  private let lines: [String]

  /// Opens the store at `path`, and closes it again.
  public init(_ path: String) throws {
    let store = try Store.open(at: path)
    defer { try? store.close() }
    let snapshot = try store.snapshot()
    var lines: [String] = []
    for name in try snapshot.treeNames {
      lines.append("tree \(name)")
      var cursor = try snapshot.tree(name).cursor()
      while try cursor.next() {
        let (key, value) = (try [UInt8](cursor.key()), try [UInt8](cursor.value()))
        lines.append("\(key) \(value)")
      }
    }
    self.lines = lines
  }
}
