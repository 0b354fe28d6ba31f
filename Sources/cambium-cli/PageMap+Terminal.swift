import Foundation
import PageStore

extension PageMap {
  /// The rows that a map has at the most on a terminal.
  static let terminalRowCount = 24

  /// Makes the map for a terminal of this many columns; nil for no limit.
  init(_ uses: PageUses, terminalWidth: Int?) {
    let room = terminalWidth.map { $0 - Self.labelWidth(uses.pageCount) - Self.labelGap.count }
    let columnCount = min(Self.columnCount, max(1, room ?? Self.columnCount))
    self.init(uses, rowCount: Self.terminalRowCount, columnCount: columnCount)
  }

  private static let labelGap = "  "

  /// The characters of the number before a row.
  private static func labelWidth(_ pageCount: UInt64) -> Int { "\(pageCount)".count }

  /// The map in letters, with a legend. Colours repeat the information of the letters.
  ///
  /// - Parameter width: the columns of the terminal; nil for no limit.
  func text(title: String, isColoured: Bool, width: Int?) -> String {
    var lines = Self.wrapped("\(title): \(size)", to: width) + [""]
    let labelWidth = Self.labelWidth(pageCount)
    for first in stride(from: 0, to: cells.count, by: columnCount) {
      let row = cells[first..<min(first + columnCount, cells.count)]
      let label = "\(UInt64(first) * pagesPerCell)"
      lines.append(
        Self.padded(label, to: labelWidth) + Self.labelGap + row.map { Self.letter($0, isColoured) }.joined()
      )
    }
    lines += [""] + scale.flatMap { Self.wrapped($0, to: width) } + [""] + legend(isColoured, width)
    return lines.joined(separator: "\n")
  }

  private var scale: [String] {
    let cell = "A letter is \(Self.pages(pagesPerCell))"
    let label = "The number before a row is that of its first page."
    guard pagesPerCell > 1 else { return ["\(cell). \(label)"] }
    let letters =
      "a capital or a point if all have one use; otherwise a small letter or a colon, for the use of most."
    return ["\(cell): \(letters)", label]
  }

  private func legend(_ isColoured: Bool, _ width: Int?) -> [String] {
    let rows = totals.map { total in
      (
        total.use, pages: Self.pages(total.pageCount), bytes: bytes(total.pageCount),
        share: share(total.pageCount)
      )
    }
    let nameWidth = rows.map(\.0.rawValue.count).max() ?? 0
    let pagesWidth = rows.map(\.pages.count).max() ?? 0
    let bytesWidth = rows.map(\.bytes.count).max() ?? 0
    return rows.flatMap { use, pages, bytes, share -> [String] in
      let letter = Self.letter(Cell(use: use, isWhole: true), isColoured)
      let name = use.rawValue + String(repeating: " ", count: nameWidth - use.rawValue.count)
      let line = [
        name, Self.padded(pages, to: pagesWidth), Self.padded(bytes, to: bytesWidth),
        Self.padded(share, to: 5), use.meaning,
      ].joined(separator: "  ")
      let indentation = "   "
      guard let width, indentation.count + line.count > width else { return ["\(letter)  \(line)"] }
      let words = "\(use.rawValue): \(pages), \(bytes), \(share), \(use.meaning)"
      let narrow = Self.wrapped(words, to: width - indentation.count)
      return ["\(letter)  \(narrow[0])"] + narrow.dropFirst().map { indentation + $0 }
    }
  }

  /// Returns the lines of a text. A line has no more characters than the width, unless a word has.
  private static func wrapped(_ text: String, to width: Int?) -> [String] {
    guard let width, text.count > width else { return [text] }
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
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
