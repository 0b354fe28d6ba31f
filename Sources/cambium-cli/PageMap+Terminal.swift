import Foundation

extension PageMap {
  /// The rows that a map has at the most on a terminal.
  static let terminalRowCount = 24

  /// The map in letters, with a legend. Colours repeat the information of the letters.
  func text(title: String, isColoured: Bool) -> String {
    var lines = ["\(title): \(size)", ""]
    let labelWidth = "\(pageCount)".count
    for first in stride(from: 0, to: cells.count, by: Self.columnCount) {
      let row = cells[first..<min(first + Self.columnCount, cells.count)]
      let label = "\(UInt64(first) * pagesPerCell)"
      lines.append(
        Self.padded(label, to: labelWidth) + "  " + row.map { Self.letter($0, isColoured) }.joined()
      )
    }
    lines += ["", scale, ""] + legend(isColoured)
    return lines.joined(separator: "\n")
  }

  private var scale: String {
    let cell = "A letter is \(Self.pages(pagesPerCell))"
    guard pagesPerCell > 1 else { return "\(cell). The number before a row is that of its first page." }
    return
      "\(cell): a capital or a point if all have one use; "
      + "otherwise a small letter or a colon, for the use of most.\n"
      + "The number before a row is that of its first page."
  }

  private func legend(_ isColoured: Bool) -> [String] {
    let rows = totals.map { total in
      (
        total.use, pages: Self.pages(total.pageCount), bytes: bytes(total.pageCount),
        share: share(total.pageCount)
      )
    }
    let nameWidth = rows.map(\.0.rawValue.count).max() ?? 0
    let pagesWidth = rows.map(\.pages.count).max() ?? 0
    let bytesWidth = rows.map(\.bytes.count).max() ?? 0
    return rows.map { use, pages, bytes, share in
      let name = use.rawValue + String(repeating: " ", count: nameWidth - use.rawValue.count)
      return [
        Self.letter(Cell(use: use, isWhole: true), isColoured), name, Self.padded(pages, to: pagesWidth),
        Self.padded(bytes, to: bytesWidth), Self.padded(share, to: 5), use.meaning,
      ].joined(separator: "  ")
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  // MARK: Letters

  private static func letter(_ cell: Cell, _ isColoured: Bool) -> String {
    let letters = letters(cell.use)
    let letter = cell.isWhole ? letters.whole : letters.most
    return isColoured ? "\u{1B}[\(colours(cell.use).terminal)m\(letter)\u{1B}[0m" : letter
  }

  private static func letters(_ use: Use) -> (whole: String, most: String) {
    switch use {
    case .live: ("L", "l")
    case .dead: ("D", "d")
    case .pinned: ("P", "p")
    case .log: ("G", "g")
    case .free: (".", ":")
    case .headers: ("H", "h")
    }
  }

  /// True if standard output is a terminal whose user wants colours (https://no-color.org).
  static var wantsColours: Bool {
    let environment = ProcessInfo.processInfo.environment
    return isatty(STDOUT_FILENO) != 0 && (environment["NO_COLOR"] ?? "").isEmpty
      && environment["TERM"] != "dumb"
  }
}
