import ArgumentParser
import PageStore

/// `cambium tree STORE [NAME]`: how the trees are built.
struct TreeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree",
    abstract: "Shows the shape of the store's trees, or of one of them level by level.",
    discussion: "Every page of the trees is read. Without a name there is a line for each tree."
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The tree's name.")
  var name: String?

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let snapshot = try Store.open(at: store.path(), options: .readOnly).snapshot()
    guard let name else { return try printAll(snapshot) }
    guard let tree = try snapshot.treeIfPresent(name) else {
      let names = try snapshot.treeNames.map(EscapedText.line).joined(separator: ", ")
      throw Failure(.use, "error: there is no tree \(name); there are \(names.isEmpty ? "none" : names)")
    }
    let shape = try tree.shape(named: name)
    if json { return try JSONText.print(shape) }
    printLevels(shape)
  }

  private func printAll(_ snapshot: Snapshot) throws {
    let shapes = try snapshot.treeNames.map { try snapshot.tree($0).shape(named: $0) }
    if json { return try JSONText.print(shapes) }
    var table = Table(["tree", "number", "entries", "levels", "pages", "overflow pages", "bytes", "full"])
    for shape in shapes {
      table.add([
        .init(shape.name), .number(shape.treeID), .number(shape.entries),
        .number(shape.levels.count),
        .number(shape.levels.reduce(0) { $0 + $1.pages }), .number(shape.overflowPages),
        .number(shape.byteCount),
        .init(fill(shape.levels, shape.pageSize), isNumeric: true),
      ])
    }
    table.finish()
  }

  private func printLevels(_ shape: TreeShape) {
    StandardOutput.print(
      "\(shape.name): tree \(shape.treeID), \(shape.entries) entries, \(shape.byteCount) bytes"
    )
    if shape.overflows > 0 {
      StandardOutput.print("  \(shape.overflows) values and keys in \(shape.overflowPages) overflow pages")
    }
    if shape.pagesInMemoryOnly > 0 {
      StandardOutput.print("  \(shape.pagesInMemoryOnly) pages from the log, in no checkpoint yet")
    }
    guard !shape.levels.isEmpty else { return }
    StandardOutput.print("")
    var table = Table(["level", "pages", "entries", "entries a page", "full"])
    for level in shape.levels {
      table.add([
        .init(level.level == 0 ? "leaves" : "\(level.level)"), .number(level.pages), .number(level.entries),
        .number(level.entries / max(level.pages, 1)), .init(fill([level], shape.pageSize), isNumeric: true),
      ])
    }
    table.finish()
  }

  private func fill(_ levels: [TreeShape.Level], _ pageSize: Int) -> String {
    let pages = levels.reduce(0) { $0 + $1.pages }
    guard pages > 0 else { return "" }
    let unused = levels.reduce(0) { $0 + $1.unusedBytes }
    return "\(100 - 100 * unused / (pages * pageSize)) %"
  }
}
