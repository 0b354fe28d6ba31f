/// The lines of Markdown's tables.
package enum MarkdownTable {
  /// The header, and the rule below it: first columns of text, then columns of figures.
  package static func header(_ texts: [String], _ figures: [String]) -> String {
    let rule = texts.map { _ in "---" } + figures.map { _ in "---:" }
    return line(texts + figures) + "\n" + "|" + rule.joined(separator: "|") + "|"
  }

  package static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
