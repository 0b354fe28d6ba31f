import ArgumentParser
import GraphContext
import PageStore

/// `cambium tree STORE [NAME]`: shows the structure of the trees.
struct TreeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree",
    abstract: "Shows the shape of the store's trees, or of one of them level by level.",
    discussion: """
      Every page of the trees is read. Without a name there is a line for each tree.

      A tree is named by a letter and a number, such as e/3. The tool shows before this name what the tree \
      holds, and accepts that instead of the name:
      e/Book for the records of an entity, i/Book/title for an index, r/Book/author for the references of a to-one relationship, m/Book/tags \
      for the links of a many-to-many relationship, o/Book/tags for their order.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The tree's name, or what it holds.")
  var name: String?

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let snapshot = try Store.open(at: store.path(), options: .readOnly).snapshot()
    let titles = TreeTitles(snapshot)
    guard let name else { return try printAll(snapshot, titles) }
    let known = try titles.tree(name)
    guard let tree = try snapshot.treeIfPresent(known) else {
      let names = try snapshot.treeNames.map { EscapedText.line(titles.title(of: $0)) }.joined(
        separator: ", "
      )
      throw Failure(.use, "error: there is no tree \(name); there are \(names.isEmpty ? "none" : names)")
    }
    let shape = try tree.shape(named: known)
    if json { return try JSONText.print(LabelledShape(shape, titles)) }
    printLevels(shape, titles.title(of: known))
  }

  /// A tree's shape for programs.
  private struct LabelledShape: Encodable {
    let shape: TreeShape
    /// The label of the tree; nil if the schema doesn't know the tree.
    let label: String?

    init(_ shape: TreeShape, _ titles: TreeTitles) {
      self.shape = shape
      label = titles.label(of: shape.name)
    }

    private enum CodingKeys: CodingKey { case label }

    /// One object has the members of both.
    func encode(to encoder: any Encoder) throws {
      try shape.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(label, forKey: .label)
    }
  }

  private func printAll(_ snapshot: Snapshot, _ titles: TreeTitles) throws {
    let shapes = try snapshot.treeNames.map { try snapshot.tree($0).shape(named: $0) }
    if json { return try JSONText.print(shapes.map { LabelledShape($0, titles) }) }
    var table = Table(["tree", "number", "entries", "levels", "pages", "overflow pages", "bytes", "full"])
    for shape in shapes {
      table.add([
        .init(titles.title(of: shape.name)), .number(shape.treeID), .number(shape.entries),
        .number(shape.levels.count),
        .number(shape.levels.reduce(0) { $0 + $1.pages }), .number(shape.overflowPages),
        .number(shape.byteCount),
        .init(fill(shape.levels, shape.pageSize), isNumeric: true),
      ])
    }
    table.finish()
  }

  private func printLevels(_ shape: TreeShape, _ title: String) {
    StandardOutput.print(
      "\(title): tree \(shape.treeID), \(shape.entries) entries, \(shape.byteCount) bytes"
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
