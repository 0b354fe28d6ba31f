import ArgumentParser
import Foundation
import GraphContext
import PageStore
import SVGDrawing

/// `cambium pages STORE [NUMBER]`: shows the position of pages and log in the file.
struct PagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pages",
    abstract: "Lists the extents of the file, decodes one page, or draws what each page is used for.",
    discussion: """
      Shows the bytes as they are, without recovering the store: what isn't legible is shown as such. The \
      meaning of every field is in Docs/FileFormat.md. The name of a page's tree is shown if the store can \
      be opened.

      For a map (--map) the store is opened for reading, so it must be sound. If the file is large, each \
      cell of the map stands for several pages.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The page to decode; all extents, if it is left out.")
  var page: UInt64?

  @Flag(help: "Draws what each page is used for: live, dead, log, free, headers.")
  var map = false

  @Option(help: "With --map: draws into this SVG file.", completion: .file(extensions: ["svg"]))
  var svg: String?

  @Flag(help: "Prints JSON.")
  var json = false

  func validate() throws {
    if map, page != nil { throw ValidationError("--map and a page number exclude each other.") }
    if svg != nil, !map { throw ValidationError("--svg needs --map.") }
    if svg != nil, json { throw ValidationError("--svg and --json exclude each other.") }
  }

  func run() throws {
    if map { return try printMap() }
    let inspector = try FileInspector(path: store.path())
    guard let page else { return try printExtents(inspector) }
    guard page < inspector.pageCount else {
      throw Failure(.use, "error: there is no page \(page): the file has \(inspector.pageCount) pages")
    }
    let summary = try inspector.page(page)
    if json { return try JSONText.print(summary) }
    printPage(summary, tree: try summary.treeID.map { try treeText($0) })
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

  private func printMap() throws {
    let path = try store.path()
    if let svg { try checkIsOther(svg, than: path) }
    let uses = try Store.open(at: path, options: .readOnly).pageUses()
    if json { return try JSONText.print(PageMapJSON(uses)) }
    let title = EscapedText.line(URL(fileURLWithPath: path).lastPathComponent)
    guard let svg else {
      let width = Terminal.columnCount(of: STDOUT_FILENO)
      let map = PageMap(uses, terminalWidth: width)
      let text = map.text(title: title, isColoured: PageMap.wantsColours, width: width)
      return StandardOutput.print(picture: text)
    }
    let picture = PageMap(uses, rowCount: PageMap.pictureRowCount).picture(title: title)
    do {
      try Data(picture.source.utf8).write(to: URL(fileURLWithPath: svg))
    } catch {
      throw Failure(.store, "error: \(svg) could not be written: \(error.localizedDescription)")
    }
  }

  /// The picture must not overwrite the store, under any name.
  private func checkIsOther(_ file: String, than store: String) throws {
    var (first, second) = (stat(), stat())
    guard stat(file, &first) == 0, stat(store, &second) == 0 else { return }
    if first.st_dev == second.st_dev, first.st_ino == second.st_ino {
      throw Failure(.use, "error: \(file) is the store itself")
    }
  }

  /// Returns the tree's number, with the tree's name if the store can be opened.
  private func treeText(_ number: UInt32) throws -> String {
    let path = try store.path()
    let known = try? Store.open(at: path, options: .readOnly).snapshot()
    guard let known, let name = try? known.treeNames.first(where: { try known.tree($0).treeID == number })
    else { return "\(number)" }
    return "\(number), \(TreeTitles(known).title(of: name))"
  }

  private func printPage(_ page: PageSummary, tree: String?) {
    StandardOutput.print("page \(page.number): \(page.kind)")
    if let isIntact = page.isIntact { StandardOutput.print("  checksum   \(isIntact ? "right" : "WRONG")") }
    if let tree { StandardOutput.print("  tree       \(tree)") }
    if let level = page.level { StandardOutput.print("  level      \(level)") }
    if let birth = page.birth { StandardOutput.print("  born       commit \(birth)") }
    if let free = page.freeBytes, let garbage = page.garbageBytes {
      StandardOutput.print("  unused     \(free) bytes, \(garbage) lost among the cells")
    }
    if let prefix = page.prefix, !prefix.isEmpty {
      StandardOutput.print("  prefix     \(KeyText.text(prefix))")
    }
    if let payload = page.payloadBytes, let total = page.totalBytes {
      StandardOutput.print("  value      \(payload) of \(total) bytes")
    }
    guard !page.entries.isEmpty else { return }
    StandardOutput.print("")
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
