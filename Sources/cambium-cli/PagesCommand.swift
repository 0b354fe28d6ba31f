import ArgumentParser
import PageStore

/// `cambium pages STORE [NUMBER]`: what lies where in the file.
struct PagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pages",
    abstract: "Lists the extents of the file, or decodes one page.",
    discussion: """
      Shows the bytes as they are, without recovering the store: what isn't legible is said to be so. The meaning of every \
      field is in Docs/FileFormat.md.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The page to decode; all extents, if it is left out.")
  var page: UInt64?

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let inspector = try FileInspector(path: store.path())
    guard let page else { return try printExtents(inspector) }
    guard page < inspector.pageCount else {
      throw Failure(.use, "error: the file has \(inspector.pageCount) pages")
    }
    try printPage(inspector.page(page))
  }

  private func printExtents(_ inspector: FileInspector) throws {
    let extents = try inspector.extents()
    if json { return try JSONText.print(extents) }
    var table = Table(["first page", "pages", "bytes", "kind", "commit", "epoch"])
    for extent in extents {
      table.add([
        .number(extent.firstPage), .number(extent.pageCount), .number(extent.byteCount), .init(extent.kind),
        .number(extent.commit), .number(extent.epoch),
      ])
    }
    table.finish()
  }

  private func printPage(_ page: PageSummary) throws {
    if json { return try JSONText.print(page) }
    print("page \(page.number): \(page.kind)")
    if let isIntact = page.isIntact { print("  checksum   \(isIntact ? "right" : "WRONG")") }
    if let treeID = page.treeID { print("  tree       \(treeID)") }
    if let level = page.level { print("  level      \(level)") }
    if let birth = page.birth { print("  born       commit \(birth)") }
    if let free = page.freeBytes, let garbage = page.garbageBytes {
      print("  unused     \(free) bytes, \(garbage) lost among the cells")
    }
    if let prefix = page.prefix, !prefix.isEmpty { print("  prefix     \(KeyText.text(prefix))") }
    if let payload = page.payloadBytes, let total = page.totalBytes {
      print("  value      \(payload) of \(total) bytes")
    }
    guard !page.entries.isEmpty else { return }
    print("")
    printEntries(page)
  }

  private func printEntries(_ page: PageSummary) {
    let isLeaf = page.level == 0
    var table = Table([
      "entry", isLeaf ? "key" : "separator", isLeaf ? "value bytes" : "entries below", "page",
    ])
    for (index, entry) in page.entries.enumerated() {
      table.add([
        .number(UInt64(index)), .init(KeyText.text(entry.key) + (entry.keyOverflows ? " goes on" : "")),
        .number(isLeaf ? entry.valueByteCount : entry.entryCount), .number(entry.page),
      ])
    }
    table.finish()
  }
}

extension Table.Cell {
  /// A number at the right of its column; nothing for nil.
  static func number(_ value: (some BinaryInteger)?) -> Self {
    Self(value.map { "\($0)" } ?? "", isNumeric: true)
  }
}
